/**
 * Remembers lanes as this process last saw them, so that a lane without competition costs no extra
 * read: a swap is tried on the remembered lane, and the store corrects a stale one.
 *
 * @module
 */

import { putBounded } from "../lang/bounded.ts";
import { holdsLane, isInLane, leaveLane, NO_LANE, reenterLane } from "./lane.ts";
import type { OperationRecord } from "./record.ts";
import type { LaneChange, StoredLane, Swapped } from "./store.ts";

const MAX_LANES = 1_000;
/** After this many tries the record is written without its lane: a settled record frees its lane anyway. */
const MOST_TRIES = 8;

export interface LaneCache {
  get(tenant: string, name: string): StoredLane | undefined;
  remember(tenant: string, name: string, lane: StoredLane): void;
  /**
   * Updates the cache after a swap. Record and lane share a version where they change in one move;
   * in other stores the cached version is wrong, and the next swap corrects it.
   */
  onSwapped(change: LaneChange, tenant: string, swapped: Swapped): void;
  /** The lane change to make if the record, by this change, leaves its lane, or is back in it. */
  changeWith(
    before: OperationRecord,
    after: OperationRecord | undefined,
    tries: number,
  ): Promise<LaneChange | undefined>;
}

export function laneCache(
  read: (tenant: string, name: string) => Promise<StoredLane | undefined>,
): LaneCache {
  const known = new Map<string, StoredLane>();
  const keyOf = (tenant: string, name: string) => `${tenant.length}:${tenant}${name}`;

  const cache: LaneCache = {
    get: (tenant, name) => known.get(keyOf(tenant, name)),

    remember(tenant, name, lane) {
      const key = keyOf(tenant, name);
      if (lane.version > 0) putBounded(known, key, lane, MAX_LANES);
      else known.delete(key);
    },

    onSwapped({ name, lane }, tenant, swapped) {
      if (!swapped.ok) {
        if (swapped.lane) cache.remember(tenant, name, swapped.lane);
      } else if (lane) {
        cache.remember(tenant, name, { lane, version: swapped.version || swapped.sequence });
      } else known.delete(keyOf(tenant, name));
    },

    async changeWith(before, after, tries) {
      const { tenant, id, resource: name } = before;
      const leaves = holdsLane(before.state);
      const stays = after !== undefined && holdsLane(after.state);
      if (name === undefined || leaves === stays || tries >= MOST_TRIES) return undefined;
      // That it is in the lane already must be so: a guess may be older than its leaving.
      const guess = leaves ? cache.get(tenant, name) : undefined;
      const found = guess ?? (await read(tenant, name)) ?? NO_LANE;
      if (isInLane(found.lane, id) !== leaves) return undefined;
      const lane = leaves ? leaveLane(found.lane, id) : reenterLane(found.lane, id);
      return leaves || lane ? { name, expect: found.version, lane } : undefined;
    },
  };
  return cache;
}
