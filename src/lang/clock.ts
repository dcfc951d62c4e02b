/**
 * The clock that every part of holdfire is given. Tests pass their own.
 *
 * @module
 */

import type { StopSignal } from "./stop.ts";

export interface Clock {
  /** Milliseconds since the epoch. May jump. */
  now(): number;
  /** Milliseconds since an arbitrary point. Never jumps. */
  monotonic(): number;
  /**
   * Calls back once after `ms`; the returned function cancels. With `idle` it does not keep the
   * process alive.
   */
  after(ms: number, call: () => void, idle?: boolean): () => void;
}

/** The longest delay a Node timer can hold; a longer one fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(ms, call, idle = false) {
    const timer = setTimeout(call, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS));
    if (idle) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Waits `ms`, or until `wake` aborts. Returns which came first. */
export function sleep(
  clock: Clock,
  ms: number,
  wake?: StopSignal | undefined,
): Promise<"slept" | "woken"> {
  if (wake?.aborted) return Promise.resolve("woken");
  return new Promise((resolve) => {
    const onWake = () => {
      cancel();
      resolve("woken");
    };
    const cancel = clock.after(ms, () => {
      wake?.removeEventListener("abort", onWake);
      resolve("slept");
    });
    wake?.addEventListener("abort", onWake, { once: true });
  });
}
