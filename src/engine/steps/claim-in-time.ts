/**
 * Claims within the store's time limit, or not at all: a claim whose answer never came is withdrawn by
 * its holder's name.
 *
 * @module
 */

import { StoreUnavailableError } from "../../errors.ts";
import { withTimeLimit } from "../../lang/time-limit.ts";
import type { Moved } from "../../ledger/ledger.ts";
import type { Stored } from "../../ledger/record.ts";
import type { LaneChange } from "../../ledger/store.ts";
import { type Engine, inBackground } from "../engine.ts";
import type { ClaimMove } from "../operation/claim-move.ts";
import type { Operation } from "../operation/operation.ts";

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
