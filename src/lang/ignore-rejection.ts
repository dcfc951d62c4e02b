/**
 * A user's function that should have answered at once and returned a promise instead: its failure is
 * nobody's, and must not end the process.
 *
 * @module
 */

export function ignoreRejection<T>(value: T): T {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}
