/**
 * The lanes of the simulation, with holdfire's own rules for who may enter: one write at a time, in the
 * order of the queue, and none while one is unknown.
 *
 * @module
 */

import { aheadOf, leaveLane, queueUp, takeLane } from "../../src/ledger/lane.ts";
import type { LaneRecord } from "../../src/ledger/store.ts";
import type { Timeline } from "./timeline.ts";

/** As long as the gate waits for a lane. */
const LONGEST_WAIT_MS = 30_000;

export interface Lanes {
  /** Calls back when the lane is this operation's, or when it has waited too long. */
  enter(lane: string, id: string, entered: () => void, heldBack: () => void): void;
  leave(lane: string, id: string): void;
  waiting(lane: string): number;
}

interface Visitor {
  readonly id: string;
  readonly since: number;
  readonly entered: () => void;
}

export function createLanes(timeline: Timeline): Lanes {
  const lanes = new Map<string, LaneRecord>();
  const visitors = new Map<string, Visitor[]>();
  const recordOf = (lane: string): LaneRecord => lanes.get(lane) ?? { queue: [] };
  const visitorsOf = (lane: string): Visitor[] => visitors.get(lane) ?? [];

  /** Who waits without a place in the queue, since it is full, takes one as it becomes free. */
  function queueAll(lane: string): void {
    const placed = new Set(recordOf(lane).queue.map(({ id }) => id));
    for (const { id, since } of visitorsOf(lane).filter((visitor) => !placed.has(visitor.id))) {
      const before = recordOf(lane);
      const queued = queueUp(before, id, since + LONGEST_WAIT_MS, timeline.now());
      lanes.set(lane, queued);
      if (queued.queue.length === before.queue.length) return;
    }
  }

  function admit(lane: string): void {
    queueAll(lane);
    const record = recordOf(lane);
    if (record.holder !== undefined) return;
    const next = visitorsOf(lane).find(
      ({ id }) => aheadOf(record, id, timeline.now()) === undefined,
    );
    if (!next) return;
    lanes.set(lane, takeLane(record, next.id, timeline.now()));
    drop(lane, next.id);
    next.entered();
  }

  const drop = (lane: string, id: string): void => {
    const rest = visitorsOf(lane).filter((visitor) => visitor.id !== id);
    if (rest.length === 0) visitors.delete(lane);
    else visitors.set(lane, rest);
  };

  return {
    enter(lane, id, entered, heldBack) {
      visitors.set(lane, [...visitorsOf(lane), { id, since: timeline.now(), entered }]);
      admit(lane);
      timeline.after(LONGEST_WAIT_MS, () => {
        if (!visitorsOf(lane).some((visitor) => visitor.id === id)) return;
        drop(lane, id);
        heldBack();
      });
    },
    leave(lane, id) {
      const left = leaveLane(recordOf(lane), id);
      if (left) lanes.set(lane, left);
      else lanes.delete(lane);
      admit(lane);
    },
    waiting: (lane) => visitorsOf(lane).length,
  };
}
