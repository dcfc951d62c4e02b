/**
 * What this process last saw of lanes, so that one nobody else wants costs no look: a good guess is
 * written at once, and the store corrects a bad one.
 *
 * @module
 */

import { holdsLane, isInLane, leaveLane } from "./lane.ts";
import type { OperationRecord } from "./record.ts";
import type { Change, LaneChange, StoredLane, Swapped } from "./store.ts";

const MOST_KNOWN = 1_000;
/** After so many lanes that had changed the record is written alone: its lane is free by it anyway. */
const MOST_TRIES = 8;

export interface KnownLanes {
  guess(tenant: string, name: string): StoredLane | undefined;
  saw(tenant: string, name: string, lane: StoredLane): void;
  /** Where record and lane are one move they have one version; elsewhere this is a bad guess. */
  heard(change: Change, swapped: Swapped): void;
  /** The lane that a record leaves by becoming another. */
  leaving(
    before: OperationRecord | undefined,
    after: OperationRecord | undefined,
    tries: number,
  ): Promise<LaneChange | undefined>;
}

export function knownLanes(
  read: (tenant: string, name: string) => Promise<StoredLane | undefined>,
): KnownLanes {
  const known = new Map<string, StoredLane>();
  const keyOf = (tenant: string, name: string) => `${tenant.length}:${tenant}${name}`;

  const lanes: KnownLanes = {
    guess: (tenant, name) => known.get(keyOf(tenant, name)),

    saw(tenant, name, lane) {
      const key = keyOf(tenant, name);
      known.delete(key);
      if (lane.version > 0) known.set(key, lane);
      const [oldest] = known.size > MOST_KNOWN ? known.keys() : [];
      if (oldest !== undefined) known.delete(oldest);
    },

    heard({ tenant, lane: change }, swapped) {
      if (!change) return;
      const { name, lane } = change;
      if (!swapped.ok) {
        if (swapped.lane) lanes.saw(tenant, name, swapped.lane);
      } else if (lane) {
        lanes.saw(tenant, name, { lane, version: swapped.version || swapped.sequence });
      } else known.delete(keyOf(tenant, name));
    },

    async leaving(before, after, tries) {
      if (before?.resource === undefined || !holdsLane(before.state)) return undefined;
      if ((after && holdsLane(after.state)) || tries >= MOST_TRIES) return undefined;
      const { tenant, id, resource: name } = before;
      const found = lanes.guess(tenant, name) ?? (await read(tenant, name));
      if (!found || !isInLane(found.lane, id)) return undefined;
      return { name, expect: found.version, lane: leaveLane(found.lane, id) };
    },
  };
  return lanes;
}
