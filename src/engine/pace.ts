/**
 * Exports `backoff.ts` and `budget.ts` together, for `bench/outage/policies.ts` alone. It can go once that file imports the two
 * by themselves.
 *
 * @module
 */

export { backoff } from "./backoff.ts";
export { createBudgets } from "./budget.ts";
