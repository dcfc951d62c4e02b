/**
 * Estimates the store's clock from its answers: each came between two local instants.
 *
 * @module
 */

import type { Clock } from "../lang/clock.ts";

/** Bounds of the store's time. */
export interface LedgerClock {
  /** No later than the store's clock now. */
  earliest(): number;
  /** No earlier than the store's clock now. */
  latest(): number;
  /** Whether the local clocks disagree on how much has passed since the last answer: the host slept. */
  hasSlept(): boolean;
}

export interface StoreClock extends LedgerClock {
  /** Asks the store, and notes its time and when it was asked. */
  timed<T extends { readonly now: number }>(ask: () => Promise<T>): Promise<T>;
  /** Notes the store's time in an answer to a question asked at `askedAt`, on the monotonic clock. */
  answered(now: number, askedAt: number): void;
  /** The time in the store's last answer. */
  said(): number;
}

/** A larger difference between the two clocks means that one of them was stopped. */
const SLEPT_MS = 500;

export function storeClock(clock: Clock): StoreClock {
  const start = clock.monotonic();
  const sample = { now: clock.now(), sent: start, received: start, wall: clock.now() };

  function answered(now: number, askedAt: number): void {
    sample.now = now;
    sample.sent = askedAt;
    sample.received = clock.monotonic();
    sample.wall = clock.now();
  }

  return {
    earliest: () => Math.floor(sample.now + (clock.monotonic() - sample.received)),
    latest: () => Math.ceil(sample.now + (clock.monotonic() - sample.sent)),
    async timed(ask) {
      const askedAt = clock.monotonic();
      const answer = await ask();
      answered(answer.now, askedAt);
      return answer;
    },
    answered,
    said: () => sample.now,
    hasSlept() {
      const slept = clock.now() - sample.wall - (clock.monotonic() - sample.received);
      return Math.abs(slept) > SLEPT_MS;
    },
  };
}
