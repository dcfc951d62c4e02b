/**
 * Attempts that have not ended. Slow is not lost: one whose time is up may go on, and the ledger is told
 * so, for as long as it runs in this process.
 *
 * The life of such an attempt, after its time is up (`attempt.ts`):
 *
 *   still running   the state is read, where it can be; meanwhile the attempt may send, and its `run` is waited for
 *   stopped         its signal fires once another attempt is fired or the execution is over, also where the outcome is
 *                   `still_running`; a `run` that does not heed the signal goes on
 *   torn down       where the time that was noted last runs out, because the store does not answer or refuses a longer
 *                   one, each write that it has under way ends, whatever `run` does with its signal: another owner may
 *                   count on it, and fire again
 *   ended           its `run` has settled, and each write that it sent is answered or torn down: nothing more leaves
 *                   (`endToken` in `wire/token-state.ts`). Where that is never seen: at the `endsBy` that was noted last
 *   late reply      what it brought is classified and filed (`late.ts`), also after the outcome was told
 *
 * @module
 */

import { instantOf } from "../../../lang/clock.ts";
import type { AttemptNote } from "../../../ledger/record.ts";
import { tearDown, type WireToken } from "../../../wire/token.ts";
import type { Engine } from "../../engine.ts";
import { inStoreTime } from "../../store-call.ts";
import { learn, type Owned, remember } from "./ownership.ts";
import { endsByIn, extend, leftMs, moreMsOf, type TimeToSend } from "./time-to-send.ts";

/** What is known of the attempts: one that still runs in this process has not ended, whatever its note says. */
export function attemptsNow(
  { attempts, operation }: Owned,
  engine: Engine,
): readonly AttemptNote[] {
  const running = engine.live.attempts(operation.ref.id);
  if (running.length === 0) return attempts;
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
  const running = engine.live.attempts(operation.ref.id);
  if (execution.stopped.aborted || whyNotFire === "lease_lost") return false;
  return attempts.some((attempt) => attempt.epoch === epoch && running.includes(attempt.n));
}

/** Fires the signal of the attempts whose time was up: another one is fired, or this execution is over. */
export function stopSlowAttempts(owned: Owned): void {
  if (!owned.slow) return;
  for (const { stop } of owned.slow.values()) stop();
  owned.slow = undefined;
}

/** Whether a longer time was noted. If not, the attempt may not send for longer. */
type Noted =
  /** `own`: on its own note, and not on what stands for one that the store has lost. */
  | { readonly tag: "noted"; readonly endsBy: number; readonly own: boolean }
  /** Something else relies on this attempt having ended: there will be no longer time. */
  | { readonly tag: "refused" }
  /** It has taken effect: nothing relies on its end. */
  | { readonly tag: "committed" }
  | { readonly tag: "unanswered" };

/** Notes that the attempt may send for `ms` from now on. */
export async function noteLonger(
  owned: Owned,
  n: number,
  ms: number,
  engine: Engine,
): Promise<Noted> {
  const { operation, epoch, attempts, stored } = owned;
  const { skew } = attempts.find((attempt) => attempt.n === n) ?? {};
  const endsBy = endsByIn(ms, engine, skew);
  const madeAt = stored.record.createdAt;
  const { fingerprint } = operation.draft.identity;
  const move = {
    move: "running",
    attempt: n,
    epoch,
    endsBy,
    madeAt,
    fingerprint,
  } as const;
  const noting = engine.ledger.move(operation.ref, move);
  const inTime = await inStoreTime(engine, noting);
  if (inTime.tag !== "done") return { tag: "unanswered" };
  const moved = inTime.value;
  // A record that is gone may be restored.
  if (moved.tag === "refused" && moved.why !== "absent") {
    return { tag: moved.why === "settled" ? "committed" : "refused" };
  }
  if (moved.tag !== "moved") return { tag: "unanswered" };
  learn(owned, { n, endsBy });
  // A record that another process has made anew, or restored, is not this owner's.
  const record = moved.stored?.record;
  const own =
    record?.createdAt === madeAt &&
    record.attempts.some((one) => one.n === n && one.epoch === epoch);
  if (own) remember(owned, moved.stored);
  return { tag: "noted", endsBy, own };
}

/** An attempt whose time was up while it ran. */
export interface SlowAttempt {
  readonly n: number;
  /** Until when it may send. */
  readonly time: TimeToSend;
  readonly token: WireToken;
  stop(): void;
}

/**
 * Its time is up: tells the ledger at once that it still runs, and again at every third of the time that it gets,
 * until `running` settles or the ledger refuses it. It may send for as long as it is waited for, and what it has sent may
 * stay under way for as long as that is noted.
 */
export function keepNotingRunning(
  owned: Owned,
  { n, time, token, stop }: SlowAttempt,
  running: Promise<unknown>,
  engine: Engine,
): void {
  const moreMs = moreMsOf(owned.operation.tool, owned.leaseMs);
  /** As it is in the ledger; `time` is made longer only while it is waited for. */
  const noted = { ...time };
  let over = false;
  let cancelBeat = () => {};
  let cancelEnd = () => {};
  const beat = async (): Promise<void> => {
    const longer = await noteLonger(owned, n, moreMs, engine);
    if (over) return;
    if (longer.tag === "noted") {
      if (owned.slow?.has(n)) extend(time, longer.endsBy, engine);
      extend(noted, longer.endsBy, engine);
      endInTime();
    }
    if (longer.tag === "committed") return cancelEnd();
    if (longer.tag === "refused" || engine.isClosed()) return;
    cancelBeat = engine.clock.after(moreMs / 3, () => void beat(), true);
  };
  const endInTime = (): void => {
    cancelEnd();
    const left = leftMs(noted, instantOf(engine.clock));
    if (left > 0) {
      cancelEnd = engine.clock.after(left, endInTime, true);
      return;
    }
    stop();
    tearDown(token);
  };
  endInTime();
  void beat();
  void running.finally(() => {
    over = true;
    cancelBeat();
    cancelEnd();
  });
}
