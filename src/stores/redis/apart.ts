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
import { laneIn } from "./row.ts";
import { NEXT_VERSION, type Script, script } from "./script.ts";
import type { Session } from "./session.ts";

/** KEYS: head, lane. ARGV: bucket, expect, nonce, lane. */
export const SWAP_LANE: Script = script(`
local row = redis.call('GET', KEYS[2]) or ''
local was, nonce = string.match(row, '^(%d+)|([^|]*)|')
if (was or '0') ~= ARGV[2] then
  return {nonce == ARGV[3] and 'ok' or 'refused', now, row}
end
${NEXT_VERSION}
if ARGV[4] == '' then redis.call('DEL', KEYS[2])
else redis.call('SET', KEYS[2], version .. '|' .. ARGV[3] .. '|' .. ARGV[4]) end
return {'ok', now}
`);

export async function swapApart(
  session: Session,
  change: Change,
  lane: LaneChange,
  nonce: string,
): Promise<Swapped> {
  const { tenant, id } = change;
  const alone = { ...change, lane: undefined };
  if (isIn(lane, id)) {
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
  lane !== undefined && (lane.holder === id || lane.queue.some((ticket) => ticket.id === id));

/** The lane that stood in the way, if one did. */
async function swapLane(
  session: Session,
  tenant: string,
  { name, expect, lane }: LaneChange,
  nonce: string,
): Promise<StoredLane | undefined> {
  const bucket = session.layout.bucketOf(tenant, name);
  const key = session.layout.key(bucket, "lane", tenant, name);
  const text = lane ? JSON.stringify(lane) : "";
  const reply = await session.ask(bucket, SWAP_LANE, [key], [String(expect), nonce, text]);
  return reply[0] === "refused" ? laneIn(reply[2] ?? "") : undefined;
}

async function refuse(
  session: Session,
  { tenant, id }: Change,
  lane: StoredLane,
): Promise<Swapped> {
  const { stored: current, now } = await readRecord(session, tenant, id);
  return { ok: false, current, lane, now };
}
