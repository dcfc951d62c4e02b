/**
 * Claims within the store's time limit, or not at all; and takes a claim back under which nothing was sent: only
 * then is a stop a cancellation.
 *
 * @module
 */

import { StoreUnavailableError } from "../../errors.ts";
import { withTimeLimit } from "../../lang/clock.ts";
import type { Moved } from "../../ledger/ledger.ts";
import type { Stored } from "../../ledger/record.ts";
import type { LaneChange } from "../../ledger/store.ts";
import type { ClaimMove } from "../claim-move.ts";
import { type Engine, inBackground } from "../engine.ts";
import { factsOf, type Operation } from "../operation/operation.ts";
import type { Outcome } from "../operation/outcome.ts";
import { commonFrom } from "../outcome/build.ts";
import { replay } from "../outcome/replay.ts";
import type { Owned } from "./ownership.ts";

export async function withdrawn(
  owned: Owned,
  status: "not_applied" | "in_progress",
  engine: Engine,
): Promise<Outcome<unknown>> {
  const { operation, stored, execution } = owned;
  const moved = await withdrawInTime(owned, engine);
  // A late reply has told meanwhile that it did happen, or another owner has taken over.
  const corrected = moved?.tag === "moved" && moved.report === "corrected";
  if (moved && moved.tag !== "lane" && (corrected || moved.tag === "refused") && moved.stored) {
    return replay(operation, moved.stored, engine);
  }
  const common = commonFrom(factsOf(operation, stored.record.generation), {
    recorded: moved !== undefined,
    wireRequests: 0,
    at: engine.ledger.clock.earliest(),
  });
  if (status === "in_progress") return { ...common, status };
  return { ...common, status, reason: execution.stopped.aborted ? "aborted" : "expired" };
}

/** Goes on trying in the background where the store does not answer in time: `undefined` then. */
export async function withdrawInTime(owned: Owned, engine: Engine): Promise<Moved | undefined> {
  owned.active = false;
  const withdrawing = withdraw(owned.operation, owned.holder, engine);
  inBackground(engine, () => withdrawing);
  const inTime = await withTimeLimit(engine.clock, engine.timing.storeTimeoutMs, withdrawing);
  return inTime.tag === "done" && inTime.value !== "closed" ? inTime.value : undefined;
}

export async function claimInTime(
  operation: Operation,
  engine: Engine,
  claim: ClaimMove,
  known?: Stored,
  lane?: LaneChange,
): Promise<Moved> {
  const claiming = engine.ledger.move(operation.ref, claim, known, lane);
  const inTime = await withTimeLimit(engine.clock, engine.timing.storeTimeoutMs, claiming);
  if (inTime.tag === "done") return inTime.value;
  const error = inTime.tag === "failed" ? inTime.error : undefined;
  engine.events.emit("store", () => ({ status: "error", step: "claim", error }));
  // At once, and again when the lost answer comes: it may still be on its way to the store.
  const takeBack = () => inBackground(engine, () => withdraw(operation, claim.holder, engine));
  takeBack();
  claiming.then(takeBack, takeBack);
  throw new StoreUnavailableError("claim", error);
}

/** Nothing was sent under this claim: leaves nothing to replay. Tries until the store answers. */
export function withdraw(
  operation: Operation,
  holder: string,
  engine: Engine,
): Promise<Moved | "closed"> {
  const at = engine.ledger.clock.earliest();
  return engine.persist(() => engine.ledger.move(operation.ref, { move: "withdraw", holder, at }));
}
