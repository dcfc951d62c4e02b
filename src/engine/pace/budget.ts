/**
 * A retry budget per service: a service that is down gets few resends, however many callers there are.
 *
 * First attempts and reads are free. A resend takes a token; a success gives a tenth back.
 *
 * @module
 */

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
