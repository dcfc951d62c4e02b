/**
 * The clock that every part of holdfire is given, and the two ways to wait on it: for a time, and for a promise up
 * to a time limit. Tests pass their own clock.
 *
 * @module
 */

import { runWithoutContext } from "./no-context.ts";
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

/** A moment on both clocks: either may be wrong about how much time has passed since. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

export const instantOf = (clock: Clock): Instant => ({
  monotonic: clock.monotonic(),
  wall: clock.now(),
});

/** The longest delay a Node timer can hold; a longer one fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Taken once: as a global it is a getter, which takes longer than the clock itself. */
const { performance } = globalThis;

const monotonic = (): number => performance.now();

export const systemClock: Clock = { now: Date.now, monotonic, after: createTimers() };

/** The end of this turn of the event loop. Taken now: one that a test has faked later may never come. */
export const soon: typeof setImmediate = setImmediate;

/** The host's monotonic clock, the same for all processes. Taken now: a test that fakes it has its own process in mind. */
export const hrtime: NodeJS.HRTime = process.hrtime;

interface Waiting {
  readonly call: () => void;
  readonly dueAt: number;
  readonly idle: boolean;
  /** Its place among those whose timer is not set yet; `-1` once it is set or cancelled. */
  place: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Timers that are set when the turn of the event loop ends. Most time limits are over by then: what they
 * limit was answered in the same turn, and no timer was needed. They are set outside of any async context,
 * since those of several calls are set together.
 */
function createTimers(): Clock["after"] {
  const waiting: Waiting[] = [];
  let isDue = false;

  function setTimers(): void {
    isDue = false;
    for (const one of waiting.splice(0)) {
      one.place = -1;
      // The other way round NaN would stay NaN, of which Node warns.
      const left = one.dueAt - monotonic();
      const ms = left > 0 ? Math.min(left, LONGEST_TIMER_MS) : 0;
      one.timer = setTimeout(one.call, ms);
      if (one.idle) one.timer.unref();
    }
  }

  function cancel(one: Waiting): void {
    if (one.timer) clearTimeout(one.timer);
    const last = one.place < 0 ? undefined : waiting.pop();
    if (last && last !== one) {
      waiting[one.place] = last;
      last.place = one.place;
    }
    one.place = -1;
  }

  return (ms, call, idle = false) => {
    const place = waiting.length;
    const one: Waiting = { call, dueAt: monotonic() + ms, idle, place, timer: undefined };
    waiting.push(one);
    if (!isDue) {
      isDue = true;
      runWithoutContext(() => soon(setTimers));
    }
    return () => cancel(one);
  };
}

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

export type InTime<T> =
  | { readonly tag: "done"; readonly value: T }
  | { readonly tag: "failed"; readonly error: unknown }
  | { readonly tag: "late" };

export function withTimeLimit<T>(
  clock: Clock,
  ms: number,
  promise: Promise<T>,
): Promise<InTime<T>> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve({ tag: "late" }));
    promise.then(
      (value) => {
        cancel();
        resolve({ tag: "done", value });
      },
      (error: unknown) => {
        cancel();
        resolve({ tag: "failed", error });
      },
    );
  });
}
