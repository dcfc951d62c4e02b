/**
 * Attempts whose `run` has not settled. Slow is not lost: one whose time is up may go on, and the ledger is told
 * so, for as long as it runs in this process.
 *
 * @module
 */

import type { AttemptNote } from "../../ledger/record.ts";
import type { Engine } from "../engine.ts";
import { inStoreTime } from "../store-call.ts";
import { learn, type Owned, remember } from "./ownership.ts";
import { endsByIn, extend } from "./time-to-send.ts";

/** Notes that the attempt runs, until `endAttempt`. */
export function beginAttempt(id: string, n: number, { runningAttempts }: Engine): void {
  const others = runningAttempts.get(id);
  runningAttempts.set(id, others ? [...others, n] : [n]);
}

export function endAttempt(id: string, n: number, { runningAttempts }: Engine): void {
  const others = runningAttempts.get(id)?.filter((other) => other !== n);
  if (others && others.length > 0) runningAttempts.set(id, others);
  else runningAttempts.delete(id);
}

/** What is known of the attempts: one that still runs in this process has not ended, whatever its note says. */
export function attemptsNow(
  { attempts, operation }: Owned,
  engine: Engine,
): readonly AttemptNote[] {
  const running = engine.runningAttempts.get(operation.ref.id);
  if (!running) return attempts;
  return attempts.map((attempt) =>
    running.includes(attempt.n) ? { ...attempt, endsBy: undefined } : attempt,
  );
}

/**
 * Whether an attempt of this execution goes on though its time was up, and is waited for: not once all callers have
 * left, or another process has taken over.
 */
export function awaitsRun(owned: Owned, engine: Engine): boolean {
  const { attempts, epoch, operation, execution, whyNotFire } = owned;
  const running = engine.runningAttempts.get(operation.ref.id);
  if (!running || execution.stopped.aborted || whyNotFire === "lease_lost") return false;
  return attempts.some((attempt) => attempt.epoch === epoch && running.includes(attempt.n));
}

/** Gives up the attempts whose time was up: another one is fired, or no caller waits for them any more. */
export function giveUpWaiting(owned: Owned): void {
  for (const { stop } of owned.waitedFor?.values() ?? []) stop();
  owned.waitedFor = undefined;
}

/** Notes that the attempt may send for `ms` from now on. `undefined` if that could not be noted: it may not. */
export async function noteLonger(
  owned: Owned,
  n: number,
  ms: number,
  engine: Engine,
): Promise<number | undefined> {
  const { skew } = owned.attempts.find((attempt) => attempt.n === n) ?? {};
  const endsBy = endsByIn(ms, engine, skew);
  const noting = engine.ledger.move(owned.operation.ref, { move: "running", attempt: n, endsBy });
  const inTime = await inStoreTime(engine, noting);
  if (inTime.tag !== "done" || inTime.value.tag !== "moved") return undefined;
  learn(owned, { n, endsBy });
  remember(owned, inTime.value.stored);
  return endsBy;
}

/**
 * Its time is up: tells the ledger at once that it still runs, and again at every third of the time that it gets,
 * until `running` settles. It may send for as long as it is waited for.
 */
export function announceRunning(
  owned: Owned,
  n: number,
  running: Promise<unknown>,
  engine: Engine,
): void {
  const moreMs = Math.max(owned.operation.tool.attemptTimeoutMs, owned.leaseMs);
  let over = false;
  let cancel = () => {};
  const beat = async (): Promise<void> => {
    const endsBy = await noteLonger(owned, n, moreMs, engine);
    const waitedFor = owned.waitedFor?.get(n);
    if (endsBy !== undefined && waitedFor) extend(waitedFor.time, endsBy, engine);
    if (over || engine.isClosed()) return;
    cancel = engine.clock.after(moreMs / 3, () => void beat(), true);
  };
  void beat();
  void running.finally(() => {
    over = true;
    cancel();
  });
}
