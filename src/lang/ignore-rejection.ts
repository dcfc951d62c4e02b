/**
 * Handles the rejection of a promise that a user's function returned where a plain value was
 * expected, so that it does not end the process.
 *
 * @module
 */

export function ignoreRejection<T>(value: T): T {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}
