/**
 * A lane, the queue of writes to one resource, as pure edits: which operations hold it, which is next,
 * how one enters and leaves.
 *
 * A lane only names operations. Whether one of them still blocks the lane is in its own record.
 *
 * @module
 */

import type { State } from "./record.ts";
import type { Change, LaneChange, LaneRecord, StoredLane } from "./store.ts";

/** Operations beyond this number wait without a place in the queue. */
const MAX_TICKETS = 128;
/** The most operations that may share the lane inside one operation at the same time. */
const MAX_INNER = 32;

export const NO_LANE: StoredLane = { lane: { queue: [] }, version: 0 };

/** Stands for the id in a change that has no record. It is the id of no operation. */
const NO_RECORD = "lane";

/** A change of the lane alone, without a record. */
export const laneAlone = (tenant: string, lane: LaneChange): Change => ({
  tenant,
  id: NO_RECORD,
  expect: 0,
  record: undefined,
  lease: "none",
  lane,
});

/**
 * From its claim until its outcome is known, an operation keeps other writes out of the lane; one that a person
 * has given up does not.
 */
export const holdsLane = (state: State): boolean =>
  state.tag === "claimed" || (state.tag === "unknown" && state.reason !== "abandoned");

export const isInLane = ({ holder, inner = [] }: LaneRecord, id: string): boolean =>
  holder === id || inner.includes(id);

/** The operations whose records say whether the lane is taken. */
export const occupantsOf = ({ holder, inner = [] }: LaneRecord): readonly string[] =>
  holder === undefined ? inner : [holder, ...inner];

/** The first operation in the queue whose ticket is still valid, unless it is `id` itself. */
export function aheadOf({ queue }: LaneRecord, id: string, now: number): string | undefined {
  const first = queue.find(({ until }) => until > now)?.id;
  return first === id ? undefined : first;
}

export const takeLane = (lane: LaneRecord, id: string, now: number): LaneRecord => ({
  holder: id,
  queue: waiting(lane, now).filter((ticket) => ticket.id !== id),
});

/** Lets an operation in that is made inside an attempt of an operation in the lane. */
export function shareLane(lane: LaneRecord, id: string): LaneRecord | undefined {
  const { inner = [] } = lane;
  if (inner.includes(id)) return lane;
  return inner.length < MAX_INNER ? { ...lane, inner: [...inner, id] } : undefined;
}

/** Lets an operation in again that had left and is open after all. Who has entered meanwhile stays. */
export const reenterLane = (lane: LaneRecord, id: string): LaneRecord | undefined =>
  lane.holder === undefined ? { ...lane, holder: id } : shareLane(lane, id);

/** Gives `id` a ticket that is valid until `until`, or renews the one it has. */
export function queueUp(lane: LaneRecord, id: string, until: number, now: number): LaneRecord {
  const queue = waiting(lane, now);
  if (queue.some((ticket) => ticket.id === id)) {
    const renewed = queue.map((ticket) => (ticket.id === id ? { id, until } : ticket));
    return { ...lane, queue: renewed };
  }
  return { ...lane, queue: queue.length < MAX_TICKETS ? [...queue, { id, until }] : queue };
}

/** The lane after `id` has left. An outer operation leaves the lane to the operations inside it. */
export function leaveLane(lane: LaneRecord, id: string): LaneRecord | undefined {
  const rest = occupantsOf(lane).filter((other) => other !== id);
  const [holder, ...inner] = rest;
  const queue = withoutTicket(lane, id);
  if (holder === undefined && queue.length === 0) return undefined;
  return { ...(holder !== undefined && { holder }), ...(inner.length > 0 && { inner }), queue };
}

export const withoutTicket = ({ queue }: LaneRecord, id: string): LaneRecord["queue"] =>
  queue.filter((ticket) => ticket.id !== id);

const waiting = ({ queue }: LaneRecord, now: number): LaneRecord["queue"] =>
  queue.filter(({ until }) => until > now);
