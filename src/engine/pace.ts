/**
 * How fast tools, reads and model calls are retried: the pause before the next try, and a retry budget per service.
 * The waits for the store and for other processes are in `store-call.ts` and `steps/wait-for-change.ts`.
 *
 * A service that is down gets few resends, however many callers there are. First attempts and reads are free; a
 * resend takes a token, and a success gives a tenth back.
 *
 * @module
 */

export interface BackoffOptions {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  /** No two tries closer than this, whatever a service says. */
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

/** Counted in tenths of a token: ten successes must make exactly one. */
const FULL = 100;
const RESEND = 10;
const SUCCESS = 1;

export interface Budgets {
  has(service: string): boolean;
  take(service: string): void;
  giveBack(service: string): void;
}

export function createBudgets(): Budgets {
  // Only services that are not at their full budget are remembered.
  const left = new Map<string, number>();
  const tenths = (service: string) => left.get(service) ?? FULL;
  return {
    has: (service) => tenths(service) >= RESEND,
    take(service) {
      left.set(service, tenths(service) - RESEND);
    },
    giveBack(service) {
      const more = tenths(service) + SUCCESS;
      if (more >= FULL) left.delete(service);
      else left.set(service, more);
    },
  };
}
