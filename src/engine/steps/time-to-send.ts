/**
 * Until when an attempt may send. The time is in the ledger before the attempt is fired, so that whoever takes over
 * knows when it has ended; this process keeps to it by both of its clocks. An attempt whose time is up and that goes on
 * gets more in `still-running.ts`. What would leave after the time is stopped: `mayStillSend` in `lease.ts` says that it
 * may not, and `wire/late-request.ts` stops it.
 *
 * @module
 */

import { type Instant, instantOf } from "../../lang/clock.ts";
import type { AttemptNote } from "../../ledger/record.ts";
import { TO_NOTE_MS } from "../claim-terms.ts";
import type { Engine } from "../engine.ts";
import type { Execution } from "../operation/operation.ts";

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

/** How long an attempt that starts now may take until it is slow. */
export const attemptMsOf = (execution: Execution, at?: Instant): number =>
  Math.max(Math.min(execution.operation.tool.attemptTimeoutMs, execution.remainingMs(at)), 0);

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
