/**
 * Until when an attempt may send. The time is in the ledger before the attempt is fired, so that whoever takes over
 * knows when it has ended; this process keeps to it by both of its clocks. How long that is:
 *
 *   `attemptMsOf`       one that is about to start, until it is slow
 *   `moreMsOf`          one whose time is up and that goes on: noted again and again in `still-running.ts`
 *   `lateWriteMsOf`     one that has ended, and of which a request left all the same (`late.ts`)
 *   `lostAttemptMsOf`   one that may have been sent and is in no record, because the store lost data
 *
 * What would leave after the time is stopped: `mayStillSend` in `lease.ts` says that it
 * may not, and `wire/late-request.ts` makes the error that it is ended with. What has left and is not answered by then is
 * torn down (`still-running.ts`).
 *
 * @module
 */

import { type Instant, instantOf } from "../../../lang/clock.ts";
import type { AttemptNote } from "../../../ledger/record.ts";
import type { Tool } from "../../define/tool.ts";
import type { Engine } from "../../engine.ts";
import type { Execution } from "../../operation/operation.ts";

/** How long a claim or a note may take without costing the attempt any of its time. */
const TO_NOTE_MS = 1_000;

/** How long an attempt that starts now may take until it is slow. */
export const attemptMsOf = (execution: Execution, at?: Instant): number =>
  Math.max(Math.min(execution.operation.tool.attemptTimeoutMs, execution.remainingMs(at)), 0);

/** How much longer an attempt gets that still runs; the note is renewed at every third of it. */
export const moreMsOf = ({ attemptTimeoutMs }: Tool, leaseMs: number): number =>
  Math.max(attemptTimeoutMs, leaseMs);

/** A request that leaves late may take as long as an attempt: an absence that is read before proves nothing. */
export const lateWriteMsOf = ({ attemptTimeoutMs }: Tool): number => attemptTimeoutMs;

/**
 * How long an attempt of which nothing is known may go on: as long as its call waits for it, or for as long as its owner
 * notes that it still runs. Until then the owner finds the new record, and notes it there.
 */
export const lostAttemptMsOf = (
  { attemptTimeoutMs, deadlineMs }: Tool,
  { timing }: Engine,
): number => Math.max(attemptTimeoutMs, deadlineMs, timing.leaseMs) + TO_NOTE_MS;

/**
 * No earlier than the store's clock now; nor than it would be if it had not been set back since the attempt was noted,
 * when the wall clock was ahead of it by `skew`.
 */
export const latestSince = (
  skew: number | undefined,
  { clock, ledger }: Engine,
  at: Instant = instantOf(clock),
): number => Math.max(ledger.clock.latest(at), skew === undefined ? 0 : at.wall - skew);

/** The time to note for an attempt that is to have so many milliseconds from `at` on. */
export const endsByIn = (ms: number, engine: Engine, skew?: number, at?: Instant): number =>
  Math.ceil(latestSince(skew, engine, at) + ms + TO_NOTE_MS);

/** The time that was noted, on both clocks of this process. */
export interface TimeToSend {
  end: Instant;
  readonly skew: number | undefined;
}

export const timeToSend = (
  endsBy: number,
  skew: number | undefined,
  engine: Engine,
): TimeToSend => ({ end: endOf(endsBy, skew, engine), skew });

/** The same for an attempt of the ledger. Where no time was noted, it may not send. */
export const timeToSendOf = (note: AttemptNote | undefined, engine: Engine): TimeToSend =>
  timeToSend(note?.endsBy ?? Number.NEGATIVE_INFINITY, note?.skew, engine);

/** A later time was noted. */
export function extend(time: TimeToSend, endsBy: number, engine: Engine): void {
  time.end = endOf(endsBy, time.skew, engine);
}

/** How much of it is left, by the clock that shows less. */
export const leftMs = ({ end }: TimeToSend, at: Instant): number =>
  Math.min(end.monotonic - at.monotonic, end.wall - at.wall);

/** Counted from the store's last answer, which acknowledged the time. Counted from a later moment, it would be the same. */
function endOf(endsBy: number, skew: number | undefined, engine: Engine): Instant {
  const at = engine.ledger.clock.answeredAt();
  const left = endsBy - latestSince(skew, engine, at);
  return { monotonic: at.monotonic + left, wall: at.wall + left };
}
