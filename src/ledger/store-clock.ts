/**
 * The store's clock, as far as it can be known here.
 *
 * @module
 */

import type { Clock } from "../lang/clock.ts";

/** The store's time: its last answer came between two local instants. */
export interface LedgerClock {
  /** No later than the store's clock now. */
  earliest(): number;
  /** No earlier than the store's clock now. */
  latest(): number;
}

export interface StoreClock extends LedgerClock {
  /** Notes what the store's clock said, and when it was asked. */
  timed<T extends { readonly now: number }>(ask: () => Promise<T>): Promise<T>;
  /** What the store said last. */
  said(): number;
  /** Whether the local clocks disagree on how much has passed since: the host slept. */
  hasSlept(): boolean;
}

/** Clocks that part by more than this have not both been running. */
const SLEPT_MS = 500;

export function storeClock(clock: Clock): StoreClock {
  const start = clock.monotonic();
  let sample = { now: clock.now(), sent: start, received: start, wall: clock.now() };
  return {
    earliest: () => Math.floor(sample.now + (clock.monotonic() - sample.received)),
    latest: () => Math.ceil(sample.now + (clock.monotonic() - sample.sent)),
    async timed(ask) {
      const sent = clock.monotonic();
      const answer = await ask();
      sample = { now: answer.now, sent, received: clock.monotonic(), wall: clock.now() };
      return answer;
    },
    said: () => sample.now,
    hasSlept() {
      const slept = clock.now() - sample.wall - (clock.monotonic() - sample.received);
      return Math.abs(slept) > SLEPT_MS;
    },
  };
}
