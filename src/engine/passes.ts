/**
 * Runs passes until one is done. The only file that knows p-retry.
 *
 * The loop is p-retry's, the library that people know for it; what it does with an error, or a thrown value that is none,
 * is tested there. Each pass decides the rest: whether another one follows, and after which pause, which is made on the
 * engine's clock. An error that a pass throws ends the loop and comes out as it is; from the second pass on it goes
 * through p-retry. What a user's function throws is a value in its pass, and does not come here.
 *
 * @module
 */

import pRetry from "p-retry";

/** How a pass ended: with a result, or with a wait before the next pass. */
export type Pass<T> =
  | { readonly tag: "done"; readonly value: T }
  | { readonly tag: "wait"; readonly waitMs: number };

/** What p-retry is shown of a pass that is to be followed by another. */
class AnotherPass extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super("Another pass follows.");
    this.waitMs = waitMs;
  }
}

/** The first pass is made at once: nearly every call needs no other. */
export const repeat = <T>(
  pass: (number: number) => Promise<Pass<T>>,
  wait: (ms: number) => Promise<unknown>,
): Promise<T> =>
  pass(1).then((first) => (first.tag === "done" ? first.value : goOn(first.waitMs, pass, wait)));

async function goOn<T>(
  waitMs: number,
  pass: (number: number) => Promise<Pass<T>>,
  wait: (ms: number) => Promise<unknown>,
): Promise<T> {
  await wait(waitMs);
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
