/**
 * One compare-and-swap of the store, and who hears of its answer: the estimate of the store's clock, the guesses of lanes,
 * and the watch for losses.
 *
 * @module
 */

import { type Clock, type Instant, instantOf } from "../lang/clock.ts";
import type { LaneCache } from "./lane-cache.ts";
import type { Change, Store, Swapped } from "./store.ts";
import type { StoreClock } from "./store-clock.ts";
import type { LossWatch } from "./witness/loss-watch.ts";

/** `asked` is now. */
export type Swap = (change: Change, asked?: Instant) => Promise<Swapped>;

export function swapper({
  store,
  clock,
  time,
  lanes,
  losses,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly time: StoreClock;
  readonly lanes: LaneCache;
  readonly losses: LossWatch;
}): Swap {
  /** Those that are not answered yet. */
  let swaps = 0;

  return (change, asked = instantOf(clock)) => {
    const before = losses.seen();
    const isFirst = swaps === 0;
    // A store of a user's own may answer without a promise.
    const swapping = Promise.resolve(store.swap(change));
    swaps += 1;
    return swapping.then(
      (swapped) => {
        swaps -= 1;
        time.answered(swapped.now, asked);
        if (change.lane) lanes.onSwapped(change.lane, change.tenant, swapped);
        if (!swapped.ok) return swapped;
        // With others under way it waits with them: none overtakes one that was answered before.
        const following = losses.follow(before, change, swapped, isFirst && swaps === 0);
        return following ? following.then(() => swapped) : swapped;
      },
      (error: unknown) => {
        swaps -= 1;
        throw error;
      },
    );
  };
}
