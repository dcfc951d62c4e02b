/**
 * Settings of a whole holdfire: how they are checked, and the defaults of durations and of the retry budget. The default of
 * `attempts` is in `define-tool.ts`, those of approvals in `create.ts`.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Clock } from "../../lang/clock.ts";
import type { CodecOptions } from "../../ledger/codec/codec.ts";
import { checkOptions, positive, show, wholeNumber } from "./check.ts";

/** Durations in milliseconds. */
export interface RetryOptions {
  /** How often one call may fire a write, the first time included. A tool's own wins. @default 3 */
  readonly attempts?: number | undefined;
  /** Not the shortest pause, which is 100 ms: the ceiling of the first one. It doubles, and the pause is random below it. @default 250 */
  readonly minDelayMs?: number | undefined;
  /** The ceiling of a random pause. `Retry-After` and the budget may ask for more, within the deadline. @default 8_000 */
  readonly maxDelayMs?: number | undefined;
  /**
   * The retry budget of each `service`: a resend waits for a token, within its deadline; first attempts and reads
   * are free. `false`: no budget.
   *
   * @default { tokens: 10, perSecond: 1, perSuccess: 0.1 }
   */
  readonly budget?: BudgetOptions | false | undefined;
  /** How long a process that owns an operation is believed alive without a sign. @default 5_000 */
  readonly leaseMs?: number | undefined;
  /** How long a certain "not applied" is replayed before the same call fires again. @default 30_000 */
  readonly cooldownMs?: number | undefined;
  /** How long the ledger may take to answer. @default 5_000 */
  readonly storeTimeoutMs?: number | undefined;
  /** How long `close()` waits for calls under way. @default 10_000 */
  readonly drainMs?: number | undefined;
}

/** One retry budget per service: a bucket of tokens. */
export interface BudgetOptions {
  /** How many resends a rested service gets at once; the most that is saved up. @default 10 */
  readonly tokens?: number | undefined;
  /** How many come back in a second, whatever happens; 0 = none. @default 1 */
  readonly perSecond?: number | undefined;
  /** How many each success brings back. @default 0.1 */
  readonly perSuccess?: number | undefined;
}

/** How results are kept. */
export type PayloadOptions = CodecOptions;

/** For tests: time and chance. */
export interface Surroundings {
  readonly clock?: Clock | undefined;
  /** In [0, 1). @default Math.random */
  readonly random?: (() => number) | undefined;
  /** @default crypto.randomUUID */
  readonly newId?: (() => string) | undefined;
}

/** The durations of `RetryOptions` with the defaults filled in; `spacingMs` is the least time between two tries. */
export interface Timing {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly spacingMs: number;
  readonly leaseMs: number;
  readonly cooldownMs: number;
  readonly storeTimeoutMs: number;
  readonly drainMs: number;
}

const KNOWN = [
  "attempts",
  "minDelayMs",
  "maxDelayMs",
  "budget",
  "leaseMs",
  "cooldownMs",
  "storeTimeoutMs",
  "drainMs",
] as const satisfies readonly (keyof RetryOptions)[];

export function timingOf(retry: RetryOptions = {}): Timing {
  checkOptions(retry, KNOWN, "retry");
  const duration = (name: Exclude<keyof RetryOptions, "budget">, usual: number) =>
    positive(retry[name] ?? usual, `retry.${name}`);
  const minDelayMs = duration("minDelayMs", 250);
  const maxDelayMs = duration("maxDelayMs", 8_000);
  if (maxDelayMs < minDelayMs) {
    throw new InvalidInputError("retry.maxDelayMs", "must not be below minDelayMs.");
  }
  return {
    minDelayMs,
    maxDelayMs,
    spacingMs: 100,
    leaseMs: duration("leaseMs", 5_000),
    cooldownMs: duration("cooldownMs", 30_000),
    storeTimeoutMs: duration("storeTimeoutMs", 5_000),
    drainMs: duration("drainMs", 10_000),
  };
}

export type Budget = { readonly [K in keyof BudgetOptions]-?: number };

export function budgetOf({ budget = {} }: RetryOptions = {}): Budget {
  const own = budget === false ? { tokens: Number.POSITIVE_INFINITY } : budget;
  checkOptions(own, ["tokens", "perSecond", "perSuccess"], "retry.budget");
  const amount = (name: keyof BudgetOptions, usual: number, least: number): number => {
    const value: unknown = own[name] ?? usual;
    if (typeof value === "number" && value >= least) return value;
    const rule = `must be a number from ${least}, got ${show(value)}.`;
    throw new InvalidInputError(`retry.budget.${name}`, rule);
  };
  return {
    tokens: amount("tokens", 10, 1),
    perSecond: amount("perSecond", 1, 0),
    perSuccess: amount("perSuccess", 0.1, 0),
  };
}

export const attemptsOf = (retry: RetryOptions = {}): number | undefined =>
  retry.attempts === undefined ? undefined : wholeNumber(retry.attempts, "retry.attempts");

/** What to do about a request that one attempt sends more than once. */
export type OnHiddenRetry = "report" | "fail";

export function checkOnHiddenRetry(value: unknown = "report"): OnHiddenRetry {
  if (value === "report" || value === "fail") return value;
  const rule = `must be "report" or "fail", got ${show(value)}.`;
  throw new InvalidInputError("options.onHiddenRetry", rule);
}
