/**
 * A clock that stands still until it is told to move, for tests in which time matters.
 *
 * @module
 */

import type { Clock } from "../../src/lang/clock.ts";

export interface VirtualClock extends Clock {
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  /** Moves on by `ms`, timer by timer; what each of them starts has its turn before the next. */
  advance(ms: number): Promise<void>;
  /** Moves from timer to timer until the promise has settled, whenever `isQuiet`. */
  run<T>(promise: Promise<T>, isQuiet?: () => boolean): Promise<T>;
  /** Puts the wall clock forward or back; the monotonic one does not notice. */
  jump(ms: number): void;
  /** How many timers wait. */
  pending(): number;
}

interface Timer {
  readonly at: number;
  readonly call: () => void;
}

/** More timers than any test needs: beyond it something waits for ever. */
const MOST_STEPS = 20_000;
/** Turns of the event loop without news, after which nothing more is to be expected. */
const QUIET_TURNS = 3;

/** One turn of the event loop: every microtask has run. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits, in real time, for what a real socket brings. The test's own timeout is the limit. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
}

export function virtualClock(start = 1_700_000_000_000): VirtualClock {
  const timers = new Set<Timer>();
  let elapsed = 0;
  let jumped = 0;

  const next = (): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) if (!first || timer.at < first.at) first = timer;
    return first;
  };
  const fire = (timer: Timer): void => {
    timers.delete(timer);
    elapsed = Math.max(elapsed, timer.at);
    timer.call();
  };
  const settle = async (): Promise<void> => {
    for (let count = 0; count < QUIET_TURNS; count += 1) await turn();
  };

  return {
    now: () => Math.floor(start + elapsed + jumped),
    monotonic: () => elapsed,
    after(ms, call) {
      const timer = { at: elapsed + Math.max(ms, 0), call };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    settle,
    async advance(ms) {
      const end = elapsed + ms;
      await settle();
      for (let timer = next(); timer && timer.at <= end; timer = next()) {
        fire(timer);
        await settle();
      }
      elapsed = end;
    },
    async run(promise, isQuiet = () => true) {
      let over = false;
      const end = () => {
        over = true;
      };
      promise.then(end, end);
      for (let steps = 0; steps < MOST_STEPS; steps += 1) {
        await settle();
        if (over) return promise;
        if (!isQuiet()) {
          await until(() => over || isQuiet());
          continue;
        }
        const timer = next();
        if (timer) fire(timer);
        else await new Promise((resolve) => setTimeout(resolve, 1));
      }
      throw new Error("The promise does not settle, however much time passes.");
    },
    jump(ms) {
      jumped += ms;
    },
    pending: () => timers.size,
  };
}
