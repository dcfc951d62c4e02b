/**
 * The retry budget of each service: a service that is down gets few resends, however many callers there are.
 *
 * First attempts and reads are free; a resend waits for a token. Tokens come back with successes and with time: a budget
 * sets the pace of resends. A call whose deadline comes before its token ends as it stands, and a later call goes on.
 *
 * @module
 */

import type { Clock } from "../lang/clock.ts";
import type { Budget } from "./define/settings.ts";

export interface Budgets {
  /**
   * Takes the next token, and tells how long to wait before it may be used: who comes next gets a later one.
   * `undefined`: there is none within the time, and none was taken.
   */
  reserve(service: string, withinMs: number): number | undefined;
  /** A token that was reserved and is not used. */
  putBack(service: string): void;
  reward(service: string): void;
}

/** Ten tenths must make exactly one. */
const exact = (tokens: number): number => Math.round(tokens * 1e6) / 1e6;

export function createBudgets(
  { tokens: most, perSecond, perSuccess }: Budget,
  { monotonic }: Pick<Clock, "monotonic">,
): Budgets {
  /** Below 0 where tokens are reserved that are still to come. A service that is not listed has all. */
  const levels = new Map<string, { readonly tokens: number; readonly at: number }>();
  const levelOf = (service: string): number => {
    const level = levels.get(service);
    if (!level) return most;
    const refilled = ((monotonic() - level.at) / 1_000) * perSecond;
    return exact(Math.min(most, level.tokens + refilled));
  };
  const add = (service: string, tokens: number): void => {
    const level = exact(levelOf(service) + tokens);
    if (level >= most) levels.delete(service);
    else levels.set(service, { tokens: level, at: monotonic() });
  };
  return {
    reserve(service, withinMs) {
      const missing = exact(1 - levelOf(service));
      const waitMs = missing <= 0 ? 0 : (missing / perSecond) * 1_000;
      if (waitMs >= withinMs) return undefined;
      add(service, -1);
      return waitMs;
    },
    putBack: (service) => add(service, 1),
    reward: (service) => add(service, perSuccess),
  };
}
