/**
 * How long to wait before the next pass: full jitter, or what the service asked for.
 *
 * @module
 */

export interface BackoffOptions {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  /** No two requests closer than this, whatever a service says. */
  readonly spacingMs: number;
}

/** `turn` counts from 0; `retryAfterMs` is the service's own wish. */
export function backoff(
  turn: number,
  retryAfterMs: number | undefined,
  { minDelayMs, maxDelayMs, spacingMs }: BackoffOptions,
  random: () => number,
): number {
  if (retryAfterMs !== undefined) return Math.max(retryAfterMs, spacingMs);
  const ceiling = Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(turn, 30));
  return Math.max(spacingMs, random() * ceiling);
}
