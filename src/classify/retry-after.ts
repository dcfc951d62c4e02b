/**
 * Reads from an answer how long to wait before a retry. A hostile or broken value is ignored: a
 * Node timer fires at once for NaN, negative and very large delays, which would cause a hot loop.
 *
 * @module
 */

import type { HeaderReader } from "./answer.ts";

const LONGEST_MS = 24 * 3_600_000;
const MAX_LENGTH = 64;
const DECIMAL = /^\d{1,15}(\.\d{1,9})?$/;

/**
 * Milliseconds to wait, an integer from 0 to 24 h, from `retry-after-ms` or else `retry-after`.
 *
 * A date must be an IMF-fixdate ("Sun, 06 Nov 1994 08:49:37 GMT"); one that has passed means 0.
 */
export function retryAfterMs(header: HeaderReader, now: number): number | undefined {
  const wait =
    decimal(header("retry-after-ms"), 1) ??
    decimal(header("retry-after"), 1_000) ??
    until(header("retry-after"), now);
  if (wait === undefined || !Number.isFinite(wait)) return undefined;
  return Math.min(Math.max(Math.ceil(wait), 0), LONGEST_MS);
}

function decimal(value: string | undefined, unitMs: number): number | undefined {
  const text = value?.trim();
  return text !== undefined && DECIMAL.test(text) ? Number(text) * unitMs : undefined;
}

function until(value: string | undefined, now: number): number | undefined {
  const text = value?.trim();
  if (text === undefined || text.length > MAX_LENGTH) return undefined;
  const date = new Date(text);
  // Only an IMF-fixdate is written back unchanged; Date.parse guesses at other formats.
  return date.toUTCString() === text && !Number.isNaN(date.getTime())
    ? date.getTime() - now
    : undefined;
}
