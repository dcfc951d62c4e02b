/**
 * Waits for a promise up to a time limit. The promise itself goes on after that.
 *
 * @module
 */

import type { Clock } from "./clock.ts";

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
