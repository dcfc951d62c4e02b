/**
 * What a storm is made of, all from the seed: the things that are wanted, who is asked for them and when, and what the
 * network does to each request.
 *
 * @module
 */

import { type Fault, faults } from "../../src/testing/faulty-service.ts";
import { createChance } from "../../test/battery/world/chance.ts";
import type { Wish } from "../battery/judge.ts";
import type { ToolClass } from "../battery/stack.ts";

/** Those of which every intent can be brought to its end: a key, a reader, a unique name. */
export type StormClass = Extract<ToolClass, "keyed" | "readable" | "conditional">;

export const STORM_CLASSES: readonly StormClass[] = ["keyed", "readable", "conditional"];

/** One delivery of a job: every intent is delivered twice, as a queue does that delivers at least once. */
export interface Job {
  readonly wish: Wish;
  readonly toolClass: StormClass;
}

/** How far behind the first delivery of an intent the second can be, in jobs: often both are under way at once. */
const BEHIND = 60;

export function jobsOf(intents: number, seed: number): readonly Job[] {
  const { next } = createChance(seed);
  const deliveries = Array.from({ length: intents }, (_, n) => {
    const toolClass = STORM_CLASSES[n % STORM_CLASSES.length] ?? "keyed";
    const wish: Wish = { name: `w${n}`, item: `item-${n}`, cents: 4_000, isWanted: true };
    const job: Job = { wish, toolClass };
    return [
      { job, at: n },
      { job, at: n + next() * BEHIND },
    ];
  });
  return deliveries
    .flat()
    .sort((one, other) => one.at - other.at)
    .map(({ job }) => job);
}

/** One for each request, in the order of their arrival: about every eighth is hit. */
export function faultsOf(count: number, seed: number): readonly Fault[] {
  const { next } = createChance(seed);
  return Array.from({ length: count }, (): Fault => {
    const chance = next();
    if (chance < 0.04) return faults.commitThenReset();
    if (chance < 0.06) return faults.hangUp({ commit: true });
    if (chance < 0.09) return faults.resetBefore();
    if (chance < 0.115) return faults.status({ status: 503 });
    if (chance < 0.125) return faults.blackHole({ commit: chance < 0.12 });
    // As without a fault, but not at once: a kill finds requests on their way.
    return faults.slow({ ms: Math.floor(next() * 40), commit: chance < 0.6 ? "before" : "after" });
  });
}
