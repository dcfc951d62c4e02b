/**
 * Estimates the store's clock from its answers: each came between two local instants. What has passed since is
 * counted by two local clocks: the monotonic one may stand still while the host sleeps, and the wall clock jumps
 * when it is set. A right that begins goes by the one that shows less, a right that ends by the one that shows more.
 *
 * @module
 */

import { type Clock, type Instant, instantOf } from "../lang/clock.ts";

/** Bounds of the store's time, now or at a moment that was taken just before: steps that ask twice take it once. */
export interface LedgerClock {
  /** No later than the store's clock: for a right that begins. */
  earliest(at?: Instant): number;
  /** No earlier than the store's clock: for a right that ends. */
  latest(at?: Instant): number;
  /** How far the wall clock of this host is ahead of the store's. */
  skew(at?: Instant): number;
  /** When the store last answered, by both local clocks. */
  answeredAt(): Instant;
}

export interface StoreClock extends LedgerClock {
  /** Asks the store, and notes its time and when it was asked. */
  timed<T extends { readonly now: number }>(ask: () => Promise<T>): Promise<T>;
  /** Notes the store's time in an answer to a question asked then. */
  answered(now: number, asked: Instant): void;
  /** The time in the store's last answer. */
  said(): number;
}

export function storeClock(clock: Clock): StoreClock {
  const start = instantOf(clock);
  const sample = { now: start.wall, asked: start, received: start };

  function answered(now: number, asked: Instant): void {
    sample.now = now;
    sample.asked = asked;
    sample.received = instantOf(clock);
  }

  function earliest(at: Instant = instantOf(clock)): number {
    const { monotonic, wall } = sample.received;
    const passed = Math.min(at.monotonic - monotonic, at.wall - wall);
    return Math.floor(sample.now + Math.max(passed, 0));
  }

  function latest(at: Instant = instantOf(clock)): number {
    const { monotonic, wall } = sample.asked;
    return Math.ceil(sample.now + Math.max(at.monotonic - monotonic, at.wall - wall));
  }

  return {
    earliest,
    latest,
    skew: (at = instantOf(clock)) => Math.round(at.wall - earliest(at)),
    async timed(ask) {
      const asked = instantOf(clock);
      const answer = await ask();
      answered(answer.now, asked);
      return answer;
    },
    answered,
    answeredAt: () => sample.received,
    said: () => sample.now,
  };
}
