/**
 * Runs passes until one returns. The only file that knows p-retry.
 *
 * p-retry has opinions about errors, so it is shown none but `PassEnded`; how long to wait is decided
 * by the pass, on the engine's own clock.
 *
 * @module
 */

import pRetry from "p-retry";

/** Thrown by a pass that is to be followed by another. */
export class PassEnded extends Error {
  /** Milliseconds to wait before the next pass. */
  readonly waitMs: number;

  constructor(waitMs: number) {
    super("This pass ended without an outcome.");
    this.waitMs = waitMs;
  }
}

export function repeat<T>(
  pass: (number: number) => Promise<T>,
  wait: (ms: number) => Promise<unknown>,
): Promise<T> {
  return pRetry(pass, {
    // Each pass knows what it may still do; p-retry only turns the wheel.
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 0,
    onFailedAttempt: async ({ error }) => {
      if (error instanceof PassEnded) await wait(error.waitMs);
    },
    shouldRetry: ({ error }) => error instanceof PassEnded,
  });
}
