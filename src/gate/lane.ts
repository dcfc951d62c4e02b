/**
 * The gate of tools with a `resource`: writes to one resource go one at a time, in the order in which
 * they came, and none goes while one is unknown.
 *
 * The lane itself is taken by the claim, in the same move. Here it is only found free, or waited for.
 *
 * @module
 */

import { wouldFire } from "../engine/claim-terms.ts";
import type { Admission, Visit } from "../engine/engine.ts";
import { type Engine, inBackground } from "../engine/engine.ts";
import type { Execution, Operation } from "../engine/operation/operation.ts";
import { waitForChange } from "../engine/steps/parts/wait-for-change.ts";
import { askStore } from "../engine/store-call.ts";
import {
  aheadOf,
  holdsLane,
  isInLane,
  NO_LANE,
  occupantsOf,
  queueUp,
  shareLane,
  takeLane,
  withoutTicket,
} from "../ledger/lane.ts";
import type { Ref } from "../ledger/ledger.ts";
import type { LaneRecord, StoredLane } from "../ledger/store.ts";

const LONGEST_WAIT_MS = 30_000;
/** A waiter that has died is passed over after this. */
const TICKET_MS = 5_000;
/** A ticket that could not be given back by then expires by itself. */
const MOST_TRIES = 8;

export type LaneAdmission = Admission & { readonly waited?: boolean | undefined };

export async function admitToLane(
  execution: Execution,
  engine: Engine,
  visit: Visit,
): Promise<LaneAdmission> {
  const { ref, draft, outer = [] } = execution.operation;
  const { resource: name } = draft.identity;
  if (name === undefined) return { tag: "pass" };
  const { ledger, clock } = engine;
  const look = async () =>
    (await askStore(engine, "lane", ledger.readLane(ref.tenant, name))) ?? NO_LANE;
  let certain = visit.lane !== undefined;
  let lane: StoredLane = visit.lane ?? ledger.guessLane(ref.tenant, name) ?? NO_LANE;
  visit.lane = undefined;
  visit.waitUntil ??= clock.monotonic() + LONGEST_WAIT_MS;
  let waited = false;
  let asked = false;
  let inTheWay: string | undefined;
  for (let turn = 0; ; turn += 1) {
    if (execution.stopped.aborted) return { tag: "stopped" };
    const entered = await entryOf(lane.lane, execution.operation, engine);
    if (entered) {
      return { tag: "pass", lane: { name, expect: lane.version, lane: entered }, waited };
    }
    if (!certain) {
      lane = await look();
      certain = true;
      continue;
    }
    const now = ledger.clock.earliest();
    const open = await blockerOf(lane.lane, ref.tenant, engine);
    const blockedBy = open?.id ?? aheadOf(lane.lane, ref.id, now);
    const leftMs = Math.min(visit.waitUntil - clock.monotonic(), execution.remainingMs());
    // Who has a lane must not wait for another: two such would wait for each other.
    const mayWait = leftMs > 0 && !open?.lost && outer.every(({ resource }) => !resource);
    // What is settled or open is told from its record, whoever is in the lane; also after the wait.
    if (blockedBy !== undefined && (!asked || (waited && !mayWait))) {
      asked = true;
      const stored = await askStore(engine, "lane", ledger.read(ref));
      if (stored && !wouldFire(stored.record, execution.operation, engine)) {
        return { tag: "known", stored };
      }
    }
    if (blockedBy !== undefined && !mayWait) {
      return { tag: "held", reason: "lane", resource: name, blockedBy };
    }
    if (blockedBy !== undefined && (await isQueued(lane, name, execution, visit, engine))) {
      if (blockedBy !== inTheWay) turn = 0;
      inTheWay = blockedBy;
      waited = true;
      visit.waitedFor = { status: "held", reason: "lane", resource: name, blockedBy };
      await waitForChange(execution, turn, engine, blockedBy, leftMs);
    }
    lane = await look();
  }
}

interface Blocker {
  readonly id: string;
  /** No process works on it: it is unknown, or its owner's lease has expired. */
  readonly lost: boolean;
}

/** The lane as it is once this operation is in it; `undefined` if it may not enter. */
async function entryOf(
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
async function blockerOf(
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

/** Whether it may wait with what it has; false when the lane has changed under it. */
async function isQueued(
  { lane, version }: StoredLane,
  name: string,
  { operation: { ref } }: Execution,
  visit: Visit,
  engine: Engine,
): Promise<boolean> {
  const { ledger } = engine;
  const now = ledger.clock.earliest();
  const ticket = lane.queue.find(({ id }) => id === ref.id);
  if (ticket && ticket.until - now > TICKET_MS / 2) return true;
  const until = ledger.clock.latest() + TICKET_MS;
  const queued = queueUp(lane, ref.id, until, now);
  // Too many wait already: this one has no place in the order.
  if (!queued.queue.some(({ id }) => id === ref.id)) return true;
  visit.ticketUntil = until;
  const change = { name, expect: version, lane: queued };
  return askStore(engine, "lane", ledger.changeLane(ref.tenant, change));
}

/** Gives the ticket back, in the background: it would expire by itself. */
export function leaveQueue({ operation }: Execution, engine: Engine, visit: Visit): void {
  const { ref, draft } = operation;
  const { resource: name } = draft.identity;
  if (name === undefined || visit.ticketUntil === undefined) return;
  visit.ticketUntil = undefined;
  inBackground(engine, () => dropTicket(ref, name, engine));
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
