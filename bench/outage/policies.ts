/**
 * How failed requests are sent again: by a loop as it is mostly written, and by holdfire's own backoff and
 * retry budget, which are the code that runs in the package.
 *
 * @module
 */

import { backoff } from "../../src/engine/backoff.ts";
import { createBudgets } from "../../src/engine/budget.ts";
import { budgetOf, timingOf } from "../../src/engine/define/settings.ts";

/** The pacing of one process. */
export interface Pacing {
  /** Milliseconds to wait before the next attempt; `undefined`: it may not be sent again in time. */
  pauseBefore(attempt: number, remainingMs: number): number | undefined;
  succeeded(): void;
}

export interface Policy {
  readonly name: string;
  readonly attempts: number;
  open(now: () => number, random: () => number): Pacing;
}

const SERVICE = "provider";

const holdfire = (name: string, budget: false | undefined): Policy => ({
  name,
  attempts: 3,
  open(now, random) {
    const timing = timingOf();
    const budgets = createBudgets(budgetOf({ budget }), { monotonic: now });
    return {
      pauseBefore(attempt, remainingMs) {
        const pauseMs = backoff(attempt - 2, undefined, timing, random);
        if (pauseMs >= remainingMs) return undefined;
        const tokenMs = budgets.reserve(SERVICE, remainingMs);
        return tokenMs === undefined ? undefined : Math.max(pauseMs, tokenMs);
      },
      succeeded: () => budgets.reward(SERVICE),
    };
  },
});

/** Ten tries a quarter of a second apart: what a hand-written loop, or three nested ones, come to. */
const LOOP: Policy = {
  name: "a loop of 10 tries",
  attempts: 10,
  open: () => ({ pauseBefore: () => 250, succeeded() {} }),
};

export const HOLDFIRE_POLICY: Policy = holdfire("holdfire", undefined);

export const POLICIES: readonly Policy[] = [
  LOOP,
  holdfire("holdfire, budget: false", false),
  HOLDFIRE_POLICY,
];
