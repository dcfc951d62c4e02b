/**
 * Lanes: read alone, and in a cluster also changed alone, because no script reaches both a record and
 * its lane there.
 *
 * An operation that enters a lane writes the lane first: a lane whose holder has no open record is
 * free anyway. One that leaves it writes its record first: otherwise a crash in between would free
 * the lane of an operation that is not settled.
 *
 * @module
 */

import type { Change, LaneChange, StoredLane, Swapped } from "../../ledger/store.ts";
import { laneIn } from "./layout.ts";
import {
  CHECK_LOSS,
  NEXT_VERSION_IN_CLUSTER,
  READ,
  type Script,
  type Session,
  script,
} from "./session.ts";
import { readRecord, type SwapRecord } from "./swap.ts";

/** KEYS: counter, lane. ARGV, after the first: the version expected, the lane's text. */
const SWAP_LANE: Script = script(`
local row = redis.call('GET', KEYS[2]) or ''
if (string.match(row, '^(%d+)|') or '0') ~= ARGV[2] then
${CHECK_LOSS}
  return {time[1], time[2], 'refused', row}
end
${NEXT_VERSION_IN_CLUSTER}
if ARGV[3] == '' then redis.call('DEL', KEYS[2])
else redis.call('SET', KEYS[2], version .. '|' .. ARGV[3]) end
return {time[1], time[2], 'ok', version}
`);

export async function readLane(
  session: Session,
  tenant: string,
  name: string,
): Promise<{ readonly stored: StoredLane | undefined; readonly now: number }> {
  const bucket = session.layout.bucketOf(tenant, name);
  const key = session.layout.key(bucket, "lane", tenant, name);
  const { now, values } = await session.ask(bucket, READ, [key]);
  return { stored: values[0] ? laneIn(values[0]) : undefined, now };
}

/** A change of a record and a lane in a cluster, one after the other. */
export async function swapApart(
  session: Session,
  swapRecord: SwapRecord,
  change: Change,
  lane: LaneChange,
  nonce: string,
): Promise<Swapped> {
  const { tenant, id } = change;
  const alone = { ...change, lane: undefined };
  if (isIn(lane, id) || isLaneOnly(change)) {
    const changed = await swapLane(session, tenant, lane);
    return changed ? refuse(session, change, changed) : swapRecord(alone, nonce);
  }
  const { stored = laneIn("") } = await readLane(session, tenant, lane.name);
  if (stored.version !== lane.expect) return refuse(session, change, stored);
  const swapped = await swapRecord(alone, nonce);
  // If the lane has changed meanwhile, the record just written shows that it is free.
  if (swapped.ok) await swapLane(session, tenant, lane);
  return swapped;
}

const isIn = ({ lane }: LaneChange, id: string): boolean =>
  lane !== undefined &&
  (lane.holder === id ||
    lane.inner?.includes(id) === true ||
    lane.queue.some((ticket) => ticket.id === id));

const isLaneOnly = ({ expect, record }: Change): boolean => expect === 0 && record === undefined;

/** Returns the lane as it is instead, if it has changed. */
async function swapLane(
  session: Session,
  tenant: string,
  { name, expect, lane }: LaneChange,
): Promise<StoredLane | undefined> {
  const bucket = session.layout.bucketOf(tenant, name);
  const key = session.layout.key(bucket, "lane", tenant, name);
  const args = [String(expect), lane ? JSON.stringify(lane) : ""];
  const { values } = await session.ask(bucket, SWAP_LANE, [key], args);
  const [tag, value = ""] = values;
  if (tag !== "ok") return laneIn(value);
  session.saw(bucket, Number(value));
  return undefined;
}

async function refuse(
  session: Session,
  { tenant, id }: Change,
  lane: StoredLane,
): Promise<Swapped> {
  const { stored: current, now } = await readRecord(session, tenant, id);
  return { ok: false, current, lane, now };
}
