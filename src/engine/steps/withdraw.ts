/**
 * Takes a claim back under which nothing was sent. Only then is a stop a cancellation.
 *
 * @module
 */

import { withTimeLimit } from "../../lang/time-limit.ts";
import { factsOf } from "../call/operation.ts";
import { type Engine, inBackground } from "../engine.ts";
import type { Outcome } from "../outcome/outcome.ts";
import { outcomeOf } from "../outcome/replay.ts";
import { withdraw } from "./claim.ts";
import type { Owned } from "./ownership.ts";

/** Nobody waits any more or the time is up, and the attempt that the claim noted was never fired. */
export const isUnsent = ({ execution, noted, fires }: Owned): boolean =>
  (execution.stopped.aborted || execution.remainingMs() <= 0) && noted && fires === 0;

export async function withdrawn(owned: Owned, engine: Engine): Promise<Outcome<unknown>> {
  const { operation, holder, stored } = owned;
  owned.active = false;
  const withdrawing = withdraw(operation, holder, engine);
  inBackground(engine, () => withdrawing);
  const inTime = await withTimeLimit(engine.clock, engine.timing.storeTimeoutMs, withdrawing);
  const moved = inTime.tag === "done" && inTime.value !== "closed" ? inTime.value : undefined;
  // A late reply has told meanwhile that it did happen, or another owner has taken over.
  const corrected = moved?.tag === "moved" && moved.report === "corrected";
  if (moved && moved.tag !== "lane" && (corrected || moved.tag === "refused") && moved.stored) {
    return outcomeOf(operation, moved.stored, engine);
  }
  return {
    ...factsOf(operation, stored.record.generation),
    status: "not_applied",
    reason: owned.execution.stopped.aborted ? "aborted" : "expired",
    replayed: false,
    recorded: moved !== undefined,
    attempts: 0,
    wireRequests: 0,
    at: engine.ledger.clock.earliest(),
  };
}
