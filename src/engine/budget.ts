/**
 * A retry budget per service: a service that is down gets few resends, however many callers there are.
 *
 * First attempts and reads are free. A resend takes a token; a success gives a tenth back.
 *
 * @module
 */

const TOKENS = 10;
const BACK_PER_SUCCESS = 0.1;

export interface Budgets {
  has(service: string): boolean;
  take(service: string): void;
  giveBack(service: string): void;
}

export function createBudgets(): Budgets {
  // Only services that are not at their full budget are remembered.
  const left = new Map<string, number>();
  const tokens = (service: string) => left.get(service) ?? TOKENS;
  return {
    has: (service) => tokens(service) >= 1,
    take(service) {
      left.set(service, tokens(service) - 1);
    },
    giveBack(service) {
      const more = tokens(service) + BACK_PER_SUCCESS;
      if (more >= TOKENS) left.delete(service);
      else left.set(service, more);
    },
  };
}
