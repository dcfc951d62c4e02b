/**
 * The timers of real clients in tests: a timeout ends when its request has arrived, and a pause before a
 * retry takes no time. What is tested is how many requests arrive, and not how long a client waits.
 *
 * @module
 */

import { onTestFinished } from "vitest";

/** Clients pause for so long at least. Shorter timers are the tests' own. */
const SHORTEST_PAUSE_MS = 90;

let real = globalThis.setTimeout;
let users = 0;
/** The longest pause that is shortened, of each who asked. */
const longest: number[] = [];
/** The timeouts that wait for a request, by their length. */
const waiting = new Map<number, Set<() => void>>();

/**
 * Until the test ends, timers of exactly this length end when the function that is returned is called. A
 * slow machine cannot make a request time out that was never sent.
 */
export function timeOutOnArrival(ms: number): () => void {
  waiting.set(ms, new Set());
  takeTimers(() => waiting.delete(ms));
  return () => {
    const due = waiting.get(ms) ?? [];
    waiting.set(ms, new Set());
    for (const call of due) setImmediate(call);
  };
}

/** Until the test ends, no pause before a retry is waited for. What is longer than `upToMs` is a limit. */
export function shortenPauses(upToMs: number): void {
  longest.push(upToMs);
  takeTimers(() => longest.splice(longest.indexOf(upToMs), 1));
}

function takeTimers(end: () => void): void {
  if (users === 0) {
    real = globalThis.setTimeout;
    globalThis.setTimeout = Object.assign(setClientTimer, real);
  }
  users += 1;
  onTestFinished(() => {
    end();
    users -= 1;
    if (users === 0) globalThis.setTimeout = real;
  });
}

function setClientTimer(call: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) {
  const due = waiting.get(ms);
  if (due) {
    const timer = real(call, ms, ...args);
    due.add(() => {
      clearTimeout(timer);
      call(...args);
    });
    return timer;
  }
  const isPause = ms >= SHORTEST_PAUSE_MS && ms <= Math.max(0, ...longest);
  return real(call, isPause ? 0 : ms, ...args);
}
