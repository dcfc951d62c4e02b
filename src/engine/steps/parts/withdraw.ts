/**
 * Takes a claim back under which nothing was sent: only then is a stop a cancellation.
 *
 * @module
 */

import type { Moved } from "../../../ledger/ledger.ts";
import { withdrawClaim } from "../../claim-terms.ts";
import { type Engine, inBackground } from "../../engine.ts";
import { factsOf, isOfIntent } from "../../operation/operation.ts";
import type { Outcome } from "../../operation/outcome.ts";
import { commonFrom } from "../../outcome/build.ts";
import { replay } from "../../outcome/replay.ts";
import { FORGETFUL, TAKEN } from "../../outcome/words.ts";
import { answerWhileOwned, mayBeTaken } from "./lease.ts";
import type { Owned } from "./ownership.ts";

export async function withdrawAndTell(
  owned: Owned,
  status: "not_applied" | "in_progress" | "unknown",
  engine: Engine,
): Promise<Outcome<unknown>> {
  const { operation, stored, execution } = owned;
  const moved = await withdrawInTime(owned, engine);
  // A late reply has told meanwhile that it did happen, or that it may have; or another owner has taken over.
  const isMoved = moved?.tag === "moved";
  const isDoubted = isMoved && moved.stored?.record.state.tag === "unknown";
  const corrected =
    isMoved && (moved.report === "corrected" || (isDoubted && status === "not_applied"));
  const known = moved && (corrected || moved.tag === "refused") && moved.stored;
  if (known && isOfIntent(operation, known)) return replay(operation, known, engine);
  const common = commonFrom(factsOf(operation, stored.record.generation), {
    // What is unknown here is not in the ledger: nothing can settle it but the same call.
    recorded: moved !== undefined && status !== "unknown",
    wireRequests: 0,
    at: engine.ledger.clock.earliest(),
  });
  if (status === "in_progress") return { ...common, status };
  if (status === "unknown") return { ...common, status, reason: "cannot_tell", ...FORGETFUL };
  if (!moved && mayBeTaken(owned, engine)) {
    return { ...common, status: "unknown", reason: "lease_lost", ...TAKEN };
  }
  return { ...common, status, reason: execution.stopped.aborted ? "aborted" : "expired" };
}

/** Goes on trying in the background where the store does not answer in time: `undefined` then. */
export async function withdrawInTime(owned: Owned, engine: Engine): Promise<Moved | undefined> {
  owned.active = false;
  const withdrawing = withdrawClaim(owned.operation, owned.holder, engine);
  inBackground(engine, () => withdrawing);
  const inTime = await answerWhileOwned(owned, withdrawing, engine);
  return inTime.tag === "done" && inTime.value !== "closed" ? inTime.value : undefined;
}
