/**
 * Between reading and settling: what comes next for an owned operation, within the time that is left.
 *
 * @module
 */

import { sleep } from "../../lang/clock.ts";
import { isCleared } from "../../ledger/record.ts";
import type { Engine } from "../engine.ts";
import { backoff } from "../loops/backoff.ts";
import { type Decision, decide } from "./decide.ts";
import { learn, type Owned, situationOf } from "./ownership.ts";

/** A decision that ends the flight. */
export type Final = Extract<Decision, { do: "commit" | "give_up" | "hold" }>;

export type Next =
  | { readonly tag: "settle"; readonly final: Final }
  | { readonly tag: "again"; readonly waitMs: number };

export function nextMove(owned: Owned, engine: Engine): Next {
  const decision = decide(situationOf(owned, engine));
  if (decision.do === "commit" || decision.do === "hold") return { tag: "settle", final: decision };
  if (decision.do === "look") {
    const waitMs = untilLook(owned, decision.notBefore, engine);
    if (waitMs < owned.execution.remainingMs()) return { tag: "again", waitMs };
    return { tag: "settle", final: outOfTime(owned, decision) };
  }
  for (const n of decision.clears) learn(owned, { n, cleared: "absent" });
  if (decision.do === "give_up") return { tag: "settle", final: decision };
  const waitMs = backoff(owned.passes, owned.retryAfterMs, engine.timing, engine.random);
  owned.passes += 1;
  if (waitMs >= owned.execution.remainingMs()) {
    return { tag: "settle", final: outOfTime(owned, decision) };
  }
  owned.licence = decision.licence;
  return { tag: "again", waitMs };
}

function untilLook(owned: Owned, notBefore: number | undefined, engine: Engine): number {
  if (notBefore === undefined) {
    owned.passes += 1;
    return backoff(owned.passes, undefined, engine.timing, engine.random);
  }
  // One millisecond more: only a look that began *after* the time proves anything.
  return Math.max(engine.timing.spacingMs, notBefore - engine.ledger.clock.earliest() + 1);
}

/** Nothing in doubt: it is certain that it did not happen. Else reconcile goes on later. */
function outOfTime(owned: Owned, decision: Extract<Decision, { do: "fire" | "look" }>): Final {
  if (owned.attempts.every(isCleared)) {
    const last = owned.attempts.at(-1);
    const reason = decision.do === "fire" && decision.clears.length > 0 ? "absent" : "not_sent";
    return { do: "give_up", reason: last?.verdict === "refused" ? "refused" : reason, clears: [] };
  }
  const inProgress = owned.look?.reading === "in_progress";
  return { do: "hold", reason: inProgress ? "in_progress" : "deadline" };
}

/** Waits, unless something new is known before the time is up. */
export async function rest(owned: Owned, waitMs: number, engine: Engine): Promise<void> {
  // What woke it may have made the licence void: decide anew.
  if ((await sleep(engine.clock, waitMs, owned.wake.signal)) === "woken") owned.licence = undefined;
  owned.wake = new AbortController();
}
