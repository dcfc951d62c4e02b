/** What the catchers share: a world, a wish in it, and the checker's word on one invariant. */

import { describeAll, judge } from "../judge.ts";
import { createHits } from "../world/fates.ts";
import { type CallSpec, createWorld, type World, type WorldOptions } from "../world/world.ts";

const hits = createHits();

export const worldOf = (options: Partial<WorldOptions> = {}): World =>
  createWorld({ seed: 1, hits, ...options });

export const wish = (tool: CallSpec["tool"], more: Partial<CallSpec> = {}): CallSpec => ({
  tool,
  scope: "s1",
  what: "a",
  ...more,
});

/** Lets time pass until the promise has settled. */
export async function during<T>(world: World, promise: Promise<T>): Promise<T> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  promise.then(note, note);
  for (let waited = 0; !settled && waited < 60_000; waited += 100) await world.time.advance(100);
  return promise;
}

/** What the checker says of one invariant; the others have catchers of their own. */
export const broken = async (world: World, invariant: string): Promise<string> =>
  describeAll((await judge(world, hits)).filter((found) => found.invariant.startsWith(invariant)));
