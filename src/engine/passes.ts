/**
 * Runs passes until one is done. The loop is p-retry's, and only this file imports it.
 *
 * p-retry only repeats. Each pass decides whether another one follows, and after which pause; the pause is made on the
 * engine's clock, not on p-retry's timers. A reader that breaks down is asked again elsewhere: in `steps/read-state.ts`.
 *
 * A pass that returns `wait` becomes an `AnotherPass`, a class of this file, and p-retry goes on after nothing else. It never judges a user's error: what a user's
 * function throws is kept as a value inside its pass. Any other error that a pass throws is the engine's own; it ends the loop,
 * and the caller of `repeat` gets it. From the second pass on p-retry puts a `TypeError` in the place of what is no `Error`.
 *
 * @module
 */

import pRetry from "p-retry";

/** How a pass ended: with a result, or with a wait before the next pass. */
export type Pass<T> =
  | { readonly tag: "done"; readonly value: T }
  | { readonly tag: "wait"; readonly waitMs: number };

/** Tells p-retry that another pass follows. */
class AnotherPass extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super("Another pass follows.");
    this.waitMs = waitMs;
  }
}

/** Nearly every call ends with its first pass, without p-retry. */
export async function repeat<T>(
  pass: (number: number) => Promise<Pass<T>>,
  wait: (ms: number) => Promise<unknown>,
): Promise<T> {
  const first = await pass(1);
  if (first.tag === "done") return first.value;
  await wait(first.waitMs);
  const attempt = async (number: number): Promise<T> => {
    const ended = await pass(number + 1);
    if (ended.tag === "done") return ended.value;
    throw new AnotherPass(ended.waitMs);
  };
  return pRetry(attempt, {
    // Each pass knows what it may still do: p-retry sets no limit and no pause of its own.
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 0,
    onFailedAttempt: async ({ error }) => {
      if (error instanceof AnotherPass) await wait(error.waitMs);
    },
    shouldRetry: ({ error }) => error instanceof AnotherPass,
  });
}
