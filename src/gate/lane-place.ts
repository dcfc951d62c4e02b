/**
 * Where an operation stands in a lane: whether it may enter, and who is in the way.
 *
 * @module
 */

import type { Engine } from "../engine/engine.ts";
import type { Operation } from "../engine/operation/operation.ts";
import { askStore } from "../engine/store-call.ts";
import {
  aheadOf,
  holdsLane,
  isInLane,
  occupantsOf,
  shareLane,
  takeLane,
  withoutTicket,
} from "../ledger/lane.ts";
import type { Ref } from "../ledger/ledger.ts";
import type { LaneRecord } from "../ledger/store.ts";

const MOST_TRIES = 8;

export interface Blocker {
  readonly id: string;
  /** No process works on it: it is unknown, or its owner's lease has expired. */
  readonly lost: boolean;
}

/** The lane as it is once this operation is in it; `undefined` if it may not enter. */
export async function entryOf(
  lane: LaneRecord,
  { ref, outer = [] }: Operation,
  engine: Engine,
): Promise<LaneRecord | undefined> {
  const { id, tenant } = ref;
  if (isInLane(lane, id)) return { ...lane, queue: withoutTicket(lane, id) };
  // An operation made inside another is part of it.
  if (outer.some((one) => isInLane(lane, one.id))) return shareLane(lane, id);
  const now = engine.ledger.clock.earliest();
  if (aheadOf(lane, id, now) !== undefined) return undefined;
  const blocker = await blockerOf(lane, tenant, engine);
  if (blocker) return undefined;
  // Settled for this transaction alone: for all others they are open until it ends, and stay in their lane.
  const { store } = engine.ledger;
  const kept = occupantsOf(lane).filter((one) => store.hasSettled?.(tenant, one));
  const taken = takeLane(lane, id, now);
  const [holder, ...inner] = kept;
  if (holder === undefined) return taken;
  return shareLane({ ...taken, holder, inner }, id) ?? taken;
}

/** The first of those in the lane that is not settled. */
export async function blockerOf(
  lane: LaneRecord,
  tenant: string,
  engine: Engine,
): Promise<Blocker | undefined> {
  const { ledger } = engine;
  for (const id of occupantsOf(lane)) {
    const stored = await askStore(engine, "lane", ledger.read({ tenant, id }));
    if (!stored || !holdsLane(stored.record.state)) continue;
    const { leaseUntil = 0, record } = stored;
    const lost = record.state.tag === "unknown" || ledger.clock.earliest() >= leaseUntil;
    return { id, lost };
  }
  return undefined;
}

export async function dropTicket(
  { tenant, id }: Ref,
  name: string,
  { ledger }: Engine,
): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const found = await ledger.readLane(tenant, name);
    if (!found?.lane.queue.some((ticket) => ticket.id === id)) return;
    const queue = withoutTicket(found.lane, id);
    const isEmpty = occupantsOf(found.lane).length === 0 && queue.length === 0;
    const lane = isEmpty ? undefined : { ...found.lane, queue };
    if (await ledger.changeLane(tenant, { name, expect: found.version, lane })) return;
  }
}
