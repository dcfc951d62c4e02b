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

/** `read` makes of the answer what is returned. `asked` is now. */
export type Swap = <T>(
  change: Change,
  read: (swapped: Swapped) => T | Promise<T>,
  asked?: Instant,
) => Promise<T>;

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

  // Not an `async` function: two of them are in every call, and a promise takes less.
  return (change, read, asked = instantOf(clock)) => {
    const before = losses.seen();
    const isFirst = swaps === 0;
    // A store of a user's own may answer without a promise.
    const answer = Promise.resolve(store.swap(change));
    swaps += 1;
    return answer.then(
      (swapped) => {
        swaps -= 1;
        time.answered(swapped.now, asked);
        if (change.lane) lanes.onSwapped(change.lane, change.tenant, swapped);
        if (!swapped.ok) return read(swapped);
        // With others under way it waits with them: none overtakes one that was answered before.
        const following = losses.follow(before, change, swapped, isFirst && swaps === 0);
        return following ? following.then(() => read(swapped)) : read(swapped);
      },
      (error: unknown) => {
        swaps -= 1;
        throw error;
      },
    );
  };
}
