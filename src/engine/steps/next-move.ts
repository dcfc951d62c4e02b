/**
 * Between reading and settling: what comes next for an owned operation, within the time that is left.
 *
 * @module
 */

import { sleep } from "../../lang/clock.ts";
import { type AttemptNote, isCleared, type Licence } from "../../ledger/record.ts";
import type { Tool } from "../define/tool.ts";
import type { Engine } from "../engine.ts";
import { backoff } from "../pace.ts";
import { type Decision, decide, type Powers, type Situation } from "./decide.ts";
import { forget, learn, type Owned, wakeOf } from "./ownership.ts";

/** A decision that ends the execution. */
export type Final = Extract<Decision, { do: "commit" | "give_up" | "leave_unknown" }>;

export type Next =
  | { readonly tag: "settle"; readonly final: Final }
  /** Nothing was sent: the claim is taken back. */
  | { readonly tag: "withdraw"; readonly status: "not_applied" | "in_progress" }
  /** Fire again after a pause, under this licence. */
  | { readonly tag: "fire"; readonly licence: Licence; readonly waitMs: number }
  /** Read the state again after a pause. */
  | { readonly tag: "read"; readonly waitMs: number };

/** `readFirst`: whether the state is to be read before the first attempt. */
export const readsFirst = ({ operation: { tool }, licence, lastRead }: Owned): boolean =>
  tool.readFirst && tool.readState !== undefined && licence === "first" && !lastRead;

/** What ends an execution before it has fired; `undefined` if it may fire. */
export function endBeforeFiring(owned: Owned): Next | undefined {
  const { execution, notePending, fires, lastRead } = owned;
  if (!notePending || fires > 0) return undefined;
  if (lastRead?.reading === "committed" || lastRead?.reading === "duplicated") {
    forget(owned, owned.stored.record.fired);
    return { tag: "settle", final: { do: "commit", attempt: undefined } };
  }
  // The service is already doing it: nothing is sent, and the next call reads again.
  if (lastRead?.reading === "in_progress") return { tag: "withdraw", status: "in_progress" };
  // All callers have left or the time is up, and the attempt that the claim noted was never fired.
  const isOver = execution.stopped.aborted || execution.remainingMs() <= 0;
  return isOver ? { tag: "withdraw", status: "not_applied" } : undefined;
}

export function nextMove(owned: Owned, engine: Engine): Next {
  const decision = decide(situationOf(owned, engine));
  if (decision.do === "commit" || decision.do === "leave_unknown")
    return { tag: "settle", final: decision };
  if (decision.do === "read") {
    const waitMs = untilRead(owned, decision.notBefore, engine);
    if (waitMs < owned.execution.remainingMs()) return { tag: "read", waitMs };
    return { tag: "settle", final: outOfTime(owned, decision) };
  }
  for (const n of decision.clears) learn(owned, { n, cleared: "absent" });
  if (decision.do === "give_up") return { tag: "settle", final: decision };
  const waitMs = nextPause(owned, owned.retryAfterMs, engine);
  if (waitMs >= owned.execution.remainingMs()) {
    return { tag: "settle", final: outOfTime(owned, decision) };
  }
  return { tag: "fire", licence: decision.licence, waitMs };
}

function untilRead(owned: Owned, notBefore: number | undefined, engine: Engine): number {
  if (notBefore === undefined) return nextPause(owned, undefined, engine);
  // One millisecond more: only a read that began *after* the time proves anything.
  return Math.max(engine.timing.spacingMs, notBefore - engine.ledger.clock.earliest() + 1);
}

function nextPause(owned: Owned, retryAfterMs: number | undefined, engine: Engine): number {
  const waitMs = backoff(owned.pauses, retryAfterMs, engine.timing, engine.random);
  owned.pauses += 1;
  return waitMs;
}

/** Nothing in doubt: it is certain that it did not happen. Else reconcile goes on later. */
function outOfTime(owned: Owned, decision: Extract<Decision, { do: "fire" | "read" }>): Final {
  if (owned.attempts.every(isCleared)) {
    const last = owned.attempts.at(-1);
    const reason = decision.do === "fire" && decision.clears.length > 0 ? "absent" : "not_sent";
    return { do: "give_up", reason: last?.verdict === "refused" ? "refused" : reason, clears: [] };
  }
  const inProgress = owned.lastRead?.reading === "in_progress";
  return { do: "leave_unknown", reason: inProgress ? "in_progress" : "deadline" };
}

/** Waits, unless something new is known before the time is up. */
export async function pause(owned: Owned, waitMs: number, engine: Engine): Promise<void> {
  const ended = await sleep(engine.clock, waitMs, wakeOf(owned).signal);
  // What woke it may have made the licence void: decide anew.
  if (ended === "woken") owned.licence = undefined;
  owned.wake = undefined;
}

export function situationOf(owned: Owned, engine: Engine): Situation {
  const { operation, stored, execution } = owned;
  const { tool } = operation;
  return {
    powers: powersOf(tool),
    attempts: owned.attempts,
    epoch: owned.epoch,
    generation: stored.record.generation,
    lastRead: owned.lastRead,
    now: engine.ledger.clock.latest(),
    firesLeft: (engine.enlisted ? 1 : tool.attempts) - owned.fires,
    budget: engine.budgets.has(tool.service),
    sameArguments: stored.record.argsHash === operation.draft.argsHash,
    mayNotFire: owned.mayNotFire ?? (execution.stopped.aborted ? "stopped" : undefined),
    keySpent: isKeySpent(owned.attempts, stored.record.generation),
    fireMode: execution.fireMode,
  };
}

const powersOf = (tool: Tool): Powers => ({
  keyedForMs: tool.keyedForMs,
  conditional: tool.conditional,
  precondition: tool.precondition ? "read" : "given",
  reader: tool.readState !== undefined,
  commitsWithinMs: tool.commitsWithinMs,
  readerBlind: tool.learned.readerBlind,
  keyUnused: tool.learned.keyUnused,
  attemptTimeoutMs: tool.attemptTimeoutMs,
});

/** Passing trouble of proxies and load balancers, which no service stores under a key. */
const PASSING = new Set([408, 409, 425, 429, 502, 503, 504]);

/** The service gave the same failure to the same key again: it will go on doing so. */
function isKeySpent(attempts: readonly AttemptNote[], generation: number): boolean {
  if (attempts.length < 2 && !attempts[0]?.replayed) return false;
  const seen = new Set<number>();
  return attempts.some(({ verdict, status, replayed, ...attempt }) => {
    if (verdict !== "unknown" || status === undefined || status < 300) return false;
    if (attempt.generation !== generation) return false;
    if (replayed) return true;
    if (PASSING.has(status)) return false;
    if (seen.has(status)) return true;
    seen.add(status);
    return false;
  });
}
