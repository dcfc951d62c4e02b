/**
 * The engine: one operation, from claim to outcome. Read this file first.
 *
 *   claim → attempt → classify → read state → settle
 *
 * Each step is the file of that name in this folder. No step calls another; this file calls them all,
 * so the order below is the order in which things happen.
 *
 * @module
 */

import { LeaseLostError } from "../errors.ts";
import { leftAsItWas } from "../reconcile/take-over.ts";
import type { Flight } from "./call/execution.ts";
import type { Engine } from "./engine.ts";
import { PassEnded, repeat } from "./loops/repeat.ts";
import type { Outcome } from "./outcome/outcome.ts";
import { attemptEffect } from "./steps/attempt.ts";
import { claimOperation } from "./steps/claim.ts";
import { classify } from "./steps/classify-attempt.ts";
import { keepLease } from "./steps/lease.ts";
import { lookFirst } from "./steps/look-first.ts";
import { nextMove, rest } from "./steps/next-move.ts";
import { isInDoubt, type Owned } from "./steps/ownership.ts";
import { readState } from "./steps/read-state.ts";
import { settle } from "./steps/settle.ts";
import { isUnsent, withdrawn } from "./steps/withdraw.ts";

export async function run(flight: Flight, engine: Engine): Promise<Outcome<unknown>> {
  const claim = await claimOperation(flight, engine);
  if (claim.tag === "known") return claim.outcome;
  return conclude(claim.owned, engine);
}

/** From a claim to an outcome, whoever claimed: a caller, or a reconciler who may only look. */
export async function conclude(owned: Owned, engine: Engine): Promise<Outcome<unknown>> {
  const letGo = keepLease(owned, engine);
  try {
    const found = await lookFirst(owned, engine);
    if (found) return found;

    return await repeat(
      async () => {
        if (isUnsent(owned)) return withdrawn(owned, engine);

        const attempted = await attemptEffect(owned, engine);
        if (attempted) await classify(owned, attempted, engine);
        if (isInDoubt(owned)) await readState(owned, engine);

        const next = nextMove(owned, engine);
        if (next.tag === "settle") {
          const left = await leftAsItWas(owned, next.final, engine);
          return left ?? settle(owned, next.final, engine);
        }
        throw new PassEnded(next.waitMs);
      },
      (waitMs) => rest(owned, waitMs, engine),
    );
  } catch (error) {
    // Whatever goes wrong here, a write that was fired ends in an outcome and not in an error.
    if (owned.fires === 0 || error instanceof LeaseLostError) throw error;
    engine.events.emit("store", () => ({ status: "error", step: "run", error }));
    return settle(owned, { do: "hold", reason: "cannot_tell" }, engine);
  } finally {
    owned.active = false;
    letGo();
  }
}
