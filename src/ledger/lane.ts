/**
 * The queue of one resource, as pure edits: who is in it, who is next, how it is entered and left.
 *
 * A lane only names operations. Whether one of them still blocks it is said by its own record.
 *
 * @module
 */

import type { State } from "./record.ts";
import type { Change, LaneChange, LaneRecord, StoredLane } from "./store.ts";

/** More than these wait without a place. */
const MAX_TICKETS = 128;
/** More than these do not write inside one operation at once. */
const MAX_INNER = 32;

export const NO_LANE: StoredLane = { lane: { queue: [] }, version: 0 };

/** No operation's id: stands for the record in a change that has none. */
const NO_RECORD = "lane";

/** A change of the lane and of no record. */
export const laneAlone = (tenant: string, lane: LaneChange): Change => ({
  tenant,
  id: NO_RECORD,
  expect: 0,
  record: undefined,
  lease: "none",
  lane,
});

/** From the claim until the outcome is known, nobody else writes. */
export const holdsLane = (state: State): boolean =>
  state.tag === "claimed" || state.tag === "unknown";

export const isInLane = ({ holder, inner = [] }: LaneRecord, id: string): boolean =>
  holder === id || inner.includes(id);

/** Those whose records say whether the lane is taken. */
export const occupantsOf = ({ holder, inner = [] }: LaneRecord): readonly string[] =>
  holder === undefined ? inner : [holder, ...inner];

/** The first in the queue whose time has not passed, unless it is `id`. */
export function aheadOf({ queue }: LaneRecord, id: string, now: number): string | undefined {
  const first = queue.find(({ until }) => until > now)?.id;
  return first === id ? undefined : first;
}

export const takeLane = (lane: LaneRecord, id: string, now: number): LaneRecord => ({
  holder: id,
  queue: waiting(lane, now).filter((ticket) => ticket.id !== id),
});

/** An operation made inside an attempt of one that is in the lane. */
export function shareLane(lane: LaneRecord, id: string): LaneRecord | undefined {
  const { inner = [] } = lane;
  if (inner.includes(id)) return lane;
  return inner.length < MAX_INNER ? { ...lane, inner: [...inner, id] } : undefined;
}

/** Gives `id` a ticket that is good until then, or renews the one it has. */
export function queueUp(lane: LaneRecord, id: string, until: number, now: number): LaneRecord {
  const queue = waiting(lane, now);
  if (queue.some((ticket) => ticket.id === id)) {
    const renewed = queue.map((ticket) => (ticket.id === id ? { id, until } : ticket));
    return { ...lane, queue: renewed };
  }
  return { ...lane, queue: queue.length < MAX_TICKETS ? [...queue, { id, until }] : queue };
}

/** What remains when `id` has left. An outer operation leaves the lane to those inside it. */
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
