/**
 * The pause before a tool or a model call is tried again, before a `kind: "read"` is, and before the state is read again.
 * When a resend may leave is also up to the retry budget of its service (`budget.ts`). Other waits of the engine are elsewhere: for the
 * store in `store-call.ts`, for other processes and for people in `steps/parts/wait-for-change.ts`; where a read must not begin
 * before a certain time, in `steps/next-move.ts` (`untilRead`); for a recorded model answer in
 * `reads-and-samples/sample-record.ts`; stores have their own. The defaults are in `define/settings.ts`.
 *
 * @module
 */

export interface BackoffOptions {
  /** The ceiling of the first pause, which doubles with each one; the floor is `spacingMs`. */
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
