/**
 * Until when an attempt may send. The time is in the ledger before the attempt is fired, so that whoever takes over
 * knows when it has ended; this process keeps to it by both of its clocks.
 *
 * @module
 */

import { type Instant, instantOf } from "../../ledger/store-clock.ts";
import type { Engine } from "../engine.ts";
import type { Execution } from "../operation/operation.ts";

/** How long a claim or a note may take without costing the attempt any of its time. */
const TO_NOTE_MS = 1_000;

/**
 * No earlier than the store's clock now; nor than it would be if it had not been set back since the attempt was noted,
 * when the wall clock was ahead of it by `skew`.
 */
export const latestSince = (skew: number | undefined, { clock, ledger }: Engine): number =>
  Math.max(ledger.clock.latest(), skew === undefined ? 0 : clock.now() - skew);

/** The time to note for an attempt that is to have so many milliseconds from now on. */
export const endsByIn = (ms: number, engine: Engine, skew?: number): number =>
  Math.ceil(latestSince(skew, engine) + ms + TO_NOTE_MS);

/** How long an attempt that starts now may take until it is slow. */
export const attemptMsOf = ({ operation, remainingMs }: Execution): number =>
  Math.max(Math.min(operation.tool.attemptTimeoutMs, remainingMs()), 0);

/** The time that was noted, on the clocks of this process. */
export interface TimeToSend {
  /** By the clock that shows less. */
  leftMs(): number;
  /** A later time was noted. */
  extend(endsBy: number): void;
}

export function timeToSend(endsBy: number, skew: number | undefined, engine: Engine): TimeToSend {
  const { clock } = engine;
  const endOf = (noted: number): Instant => {
    const left = noted - latestSince(skew, engine);
    const { monotonic, wall } = instantOf(clock);
    return { monotonic: monotonic + left, wall: wall + left };
  };
  let end = endOf(endsBy);
  return {
    leftMs: () => Math.min(end.monotonic - clock.monotonic(), end.wall - clock.now()),
    extend(later) {
      end = endOf(later);
    },
  };
}
