/**
 * A record and its lane in a cluster, where no script reaches both.
 *
 * Who enters a lane writes it first: a lane whose holder has no open record is free anyway. Who
 * leaves it writes the record first: else a crash in between would free the lane of an operation
 * that nobody has settled.
 *
 * @module
 */

import type { Change, LaneChange, StoredLane, Swapped } from "../../ledger/store.ts";
import { swapRecord } from "./move.ts";
import { readLane, readRecord } from "./read.ts";
import { laneIn, laneTailOf, versionIn } from "./row.ts";
import { COUNT_WITH_OTHERS, type Script, script, TELL_TIME } from "./script.ts";
import type { Session } from "./session.ts";

/** KEYS: counter, lane. ARGV: expect, nonce, tail. */
export const SWAP_LANE: Script = script(`${TELL_TIME}
local row = redis.call('GET', KEYS[2]) or ''
local was, nonce = string.match(row, '^(%d+)|([^|]*)|')
if (was or '0') ~= ARGV[1] then
  if row == '' and redis.call('EXISTS', KEYS[1]) == 0 then return {'lost'} end
  if nonce == ARGV[2] then return {'ok', time[1], time[2], was} end
  return {'refused', time[1], time[2], row}
end
${COUNT_WITH_OTHERS}
if ARGV[3] == '' then redis.call('DEL', KEYS[2])
else redis.call('SET', KEYS[2], version .. '|' .. ARGV[3]) end
return {'ok', time[1], time[2], version}
`);

export async function swapApart(
  session: Session,
  change: Change,
  lane: LaneChange,
  nonce: string,
): Promise<Swapped> {
  const { tenant, id } = change;
  const alone = { ...change, lane: undefined };
  // A ticket is no use if it was not written; only who leaves has done so by its record alone.
  if (isIn(lane, id) || isAlone(change)) {
    const changed = await swapLane(session, tenant, lane, nonce);
    return changed ? refuse(session, change, changed) : swapRecord(session, alone, nonce);
  }
  const { stored } = await readLane(session, tenant, lane.name);
  const there = stored ?? laneIn("");
  if (there.version !== lane.expect) return refuse(session, change, there);
  const swapped = await swapRecord(session, alone, nonce);
  // Somebody else changed the lane meanwhile, and finds it free by the record just written.
  if (swapped.ok) await swapLane(session, tenant, lane, nonce);
  return swapped;
}

const isIn = ({ lane }: LaneChange, id: string): boolean =>
  lane !== undefined &&
  (lane.holder === id ||
    lane.inner?.includes(id) === true ||
    lane.queue.some((ticket) => ticket.id === id));

const isAlone = ({ expect, record }: Change): boolean => expect === 0 && record === undefined;

/** The lane that stood in the way, if one did. */
async function swapLane(
  session: Session,
  tenant: string,
  { name, expect, lane }: LaneChange,
  nonce: string,
): Promise<StoredLane | undefined> {
  const bucket = session.layout.bucketOf(tenant, name);
  const key = session.layout.key(bucket, "lane", tenant, name);
  const args = [String(expect), nonce, laneTailOf(lane, nonce)];
  const { tag, values } = await session.ask(bucket, SWAP_LANE, [key], args);
  if (tag !== "ok") return laneIn(values[0] ?? "");
  session.saw(bucket, versionIn(values[0]));
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
