/**
 * The pause before a tool, a read or a model call is tried again. When a resend may leave is also up to the retry budget of
 * its service (`budget.ts`). The waits for the store, for other processes and for people are in `store-call.ts`,
 * `steps/wait-for-change.ts`. The defaults are in `define/settings.ts`.
 *
 * @module
 */

export interface BackoffOptions {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  /** No two tries closer than this, whatever a service says. */
  readonly spacingMs: number;
}

/** `tries` counts from 0; `retryAfterMs` is the service's own wish. */
export function backoff(
  tries: number,
  retryAfterMs: number | undefined,
  { minDelayMs, maxDelayMs, spacingMs }: BackoffOptions,
  random: () => number,
): number {
  if (retryAfterMs !== undefined) return Math.max(retryAfterMs, spacingMs);
  const ceiling = Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(tries, 30));
  return Math.max(spacingMs, random() * ceiling);
}
