/**
 * Step 5: read state → **next move** → settle, or another pass: what comes next, within the time that is left.
 *
 * Before the attempt, `readsFirst` says whether the state is read first, and `endBeforeFiring` what ends the execution
 * without one. After it, `nextMove` turns the decision of `decide.ts` into what the pass loop does; `pause` is the wait
 * between two passes. What is decided on is in `situation.ts`.
 *
 * @module
 */

import { type Instant, sleep } from "../../lang/clock.ts";
import { isCleared } from "../../ledger/record.ts";
import type { Licence } from "../../reasons.ts";
import { backoff } from "../backoff.ts";
import { recognisesForgotten } from "../define/tool.ts";
import type { Engine } from "../engine.ts";
import { about } from "../operation/operation.ts";
import { commitOf, type Decision, decide, reasonNotApplied } from "./parts/decide.ts";
import { giveUp, learn, type Owned, wakeOf } from "./parts/ownership.ts";
import { situationOf } from "./parts/situation.ts";
import { awaitsRun } from "./parts/still-running.ts";

/** A decision that ends the execution. */
export type Final = Extract<Decision, { do: "commit" | "not_applied" | "leave_unknown" }>;

export type Next =
  | { readonly tag: "settle"; readonly final: Final }
  /** Nothing was sent: the claim is taken back. */
  | { readonly tag: "withdraw"; readonly status: "not_applied" | "in_progress" | "unknown" }
  /** Fire again after a pause, under this licence. */
  | { readonly tag: "fire"; readonly licence: Licence; readonly waitMs: number }
  /** A pass that fires nothing, and reads if there is a reader: after a pause, or as soon as a running attempt has ended. */
  | { readonly tag: "look_again"; readonly waitMs: number };

/** Whether the state is read before the first attempt: the tool asks for it, or the store may have forgotten one. */
export const readsFirst = (owned: Owned, engine: Engine): boolean =>
  owned.licence === "first" &&
  !owned.lastRead &&
  owned.operation.tool.readState !== undefined &&
  (owned.operation.tool.readFirst || mayBeForgotten(owned, engine));

/** In a store that may forget, no record does not mean that nothing was sent. */
const mayBeForgotten = ({ operation }: Owned, { ledger }: Engine): boolean =>
  ledger.store.promise.mayForget && !operation.fresh;

/** What ends an execution before it has fired; `at` is now. `undefined`: the pass goes on; it fires if there is a licence. */
export function endBeforeFiring(owned: Owned, at: Instant, engine: Engine): Next | undefined {
  const { execution, unfiredTime, lastRead, operation } = owned;
  if (!unfiredTime) return undefined;
  if (lastRead?.reading === "committed" || lastRead?.reading === "duplicated") {
    giveUp(owned, owned.stored.record.fired);
    if (!operation.tool.readFirst) {
      engine.events.emit("warning", () => ({ ...about(operation), code: "store_forgot" }));
    }
    return { tag: "settle", final: { do: "commit", attempt: undefined } };
  }
  // The reader found an effect that an equal operation under way may have made, and that one did not end in time.
  if (lastRead?.again) {
    return { tag: "withdraw", status: mayBeForgotten(owned, engine) ? "unknown" : "not_applied" };
  }
  // The service is already doing it: nothing is sent, and the next call reads again.
  if (lastRead?.reading === "in_progress") return { tag: "withdraw", status: "in_progress" };
  if (lastRead?.reading === "cannot_tell" && isUnprotected(owned, engine)) {
    return { tag: "withdraw", status: "unknown" };
  }
  // All callers have left or the time is up, and the attempt that the claim noted was never fired.
  const isOver = execution.stopped.aborted || execution.remainingMs(at) <= 0;
  return isOver ? { tag: "withdraw", status: "not_applied" } : undefined;
}

/** A reader that cannot tell is none: such a write is sent only where it was accepted that the store forgets, or where the service recognises it. */
const isUnprotected = (owned: Owned, engine: Engine): boolean =>
  mayBeForgotten(owned, engine) &&
  !engine.ledger.store.promise.forgettingAccepted &&
  !recognisesForgotten(owned.operation.tool);

export function nextMove(owned: Owned, engine: Engine): Next {
  // Asked first: the whole situation takes a while to find out.
  const decision = commitOf(owned.attempts) ?? decide(situationOf(owned, engine));
  if (decision.do === "commit" || decision.do === "leave_unknown")
    return { tag: "settle", final: decision };
  if (decision.do === "read" || decision.do === "await_run") {
    const left = owned.execution.remainingMs();
    const waitMs =
      decision.do === "await_run" ? left : untilRead(owned, decision.notBefore, engine);
    if (waitMs < left) return { tag: "look_again", waitMs };
    return outOfTime(owned, decision, engine);
  }
  for (const n of decision.clears) learn(owned, { n, cleared: "absent" });
  if (decision.do === "not_applied") return { tag: "settle", final: decision };
  const pauseMs = takePause(owned, owned.retryAfterMs, engine);
  if (pauseMs >= owned.execution.remainingMs()) return outOfTime(owned, decision, engine);
  const budgetMs = reserveToken(owned, engine);
  if (budgetMs === undefined) return outOfTime(owned, decision, engine, "budget");
  return { tag: "fire", licence: decision.licence, waitMs: Math.max(pauseMs, budgetMs) };
}

/** Takes a token of the service's retry budget, and says how long to wait for it; `undefined`: longer than there is time. */
function reserveToken(owned: Owned, { budgets, clock }: Engine): number | undefined {
  const { operation, execution } = owned;
  const now = clock.monotonic();
  // Reserved before, and not used: something new was known first.
  if (owned.resendAt !== undefined) return owned.resendAt - now;
  const waitMs = budgets.reserve(operation.tool.service, execution.remainingMs());
  if (waitMs !== undefined) owned.resendAt = now + waitMs;
  return waitMs;
}

function untilRead(owned: Owned, notBefore: number | undefined, engine: Engine): number {
  if (notBefore === undefined) return takePause(owned, undefined, engine);
  // One millisecond more: only a read that began *after* the time proves anything.
  return Math.max(engine.timing.spacingMs, notBefore - engine.ledger.clock.earliest() + 1);
}

function takePause(owned: Owned, retryAfterMs: number | undefined, engine: Engine): number {
  const waitMs = backoff(owned.pauses, retryAfterMs, engine.timing, engine.random);
  owned.pauses += 1;
  return waitMs;
}

/** There is no time left for the decision: waits for an attempt that still runs, or else settles with what is known. */
function outOfTime(
  owned: Owned,
  decision: Extract<Decision, { do: "fire" | "read" | "await_run" }>,
  engine: Engine,
  short: "deadline" | "budget" = "deadline",
): Next {
  const waitMs = owned.execution.remainingMs();
  const runs = awaitsRun(owned, engine);
  if (runs && waitMs > 0) return { tag: "look_again", waitMs };
  return { tag: "settle", final: asItStands(owned, decision, runs ? "still_running" : short) };
}

/** Not applied if no attempt is in doubt. Otherwise unknown: a later call, reconcile or a person may settle it. */
function asItStands(
  owned: Owned,
  decision: Decision,
  short: "deadline" | "budget" | "still_running",
): Final {
  if (owned.attempts.every(isCleared)) {
    const clears = decision.do === "fire" ? decision.clears : [];
    return {
      do: "not_applied",
      reason: reasonNotApplied(owned.attempts.at(-1), clears),
      clears: [],
    };
  }
  const { reading, again } = owned.lastRead ?? {};
  const runs = short === "still_running";
  if (reading === "in_progress" && !runs) return { do: "leave_unknown", reason: "in_progress" };
  return { do: "leave_unknown", reason: again && !runs ? "cannot_tell" : short };
}

/** Waits, unless something new is known before the time is up. */
export async function pause(owned: Owned, waitMs: number, engine: Engine): Promise<void> {
  const ended = await sleep(engine.clock, waitMs, wakeOf(owned).signal);
  // What woke it may have made the licence void: decide anew.
  if (ended === "woken") owned.licence = undefined;
  owned.wake = undefined;
}
