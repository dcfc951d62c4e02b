/**
 * Writes one record by compare-and-swap: one script, in which record, index, lease and, on one
 * server, the lane change together or not at all.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { packRecord } from "../../ledger/pack.ts";
import { isOpen } from "../../ledger/record.ts";
import type { Change, LeaseChange, Swapped } from "../../ledger/store.ts";
import { letGo } from "./effects.ts";
import { quote } from "./layout.ts";
import { laneIn, storedIn, timeIn, versionIn } from "./row.ts";
import type { Reply } from "./runner.ts";
import { NEXT_VERSION, type Script, script } from "./script.ts";
import type { Session } from "./session.ts";

/** A century, in milliseconds: no lease is longer. */
const LONGEST_LEASE_MS = 100 * 366 * 24 * 3_600_000;

/**
 * Compares. KEYS: head, operation, all, open, owned, effects, lane (if any).
 * ARGV: bucket, expect, nonce, id, channel, lease, open, record, lane's expect, lane (if any).
 *
 * A row that is no row is never taken for none.
 */
const COMPARE = `
local row = redis.call('GETRANGE', KEYS[2], 0, 127)
local was, lease, order, open, nonce = string.match(row, '^(%d+)|(%d*)|(%d+)|([01])|([^|]*)|')
if (was or '0') ~= ARGV[2] or (not was and row ~= '') then
  if nonce == ARGV[3] then return {'ok', now, was, lease} end
  return {'refused', now, redis.call('GET', KEYS[2]) or ''}
end
`;

const COMPARE_LANE = `
local laneKey = KEYS[#KEYS]
local laneRow = redis.call('GET', laneKey) or ''
if (string.match(laneRow, '^(%d+)|') or '0') ~= ARGV[9] then
  return {'lane', now, redis.call('GET', KEYS[2]) or '', laneRow}
end
`;

const WRITE_LANE = `
if ARGV[10] == '' then redis.call('DEL', laneKey)
else redis.call('SET', laneKey, version .. '|' .. ARGV[3] .. '|' .. ARGV[10]) end
`;

const PUT = `
if ARGV[6] ~= 'keep' then
  lease = ARGV[6] == 'none' and '' or string.format('%.0f', now + ARGV[6])
end
if not was then
  order = version
  redis.call('ZADD', KEYS[3], order, ARGV[4])
end
if ARGV[7] ~= (open or '0') then
  if open == '1' then redis.call('ZREM', KEYS[4], ARGV[4])
  else redis.call('ZADD', KEYS[4], order, ARGV[4]) end
end
lease = lease or ''
redis.call('SET', KEYS[2], table.concat({version, lease, order, ARGV[7], ARGV[3], ARGV[8]}, '|'))
if was then redis.call('PUBLISH', ARGV[5], ARGV[3]) end
return {'ok', now, version, lease}
`;

/** Also tells the effects it had: those in other buckets are not in reach. */
const REMOVE = `
local effects = redis.call('SMEMBERS', KEYS[5])
for _, effect in ipairs(effects) do
  if redis.call('HGET', KEYS[6], effect) == ARGV[4] then redis.call('HDEL', KEYS[6], effect) end
end
redis.call('DEL', KEYS[2], KEYS[5])
redis.call('ZREM', KEYS[3], ARGV[4])
redis.call('ZREM', KEYS[4], ARGV[4])
redis.call('PUBLISH', ARGV[5], ARGV[3])
return {'ok', now, version, '', unpack(effects)}
`;

const put = script(COMPARE + NEXT_VERSION + PUT);
const putWithLane = script(COMPARE + COMPARE_LANE + NEXT_VERSION + WRITE_LANE + PUT);
const remove = script(COMPARE + NEXT_VERSION + REMOVE);
const removeWithLane = script(COMPARE + COMPARE_LANE + NEXT_VERSION + WRITE_LANE + REMOVE);

/** To be loaded before they are needed. */
export const MOVES: readonly Script[] = [put, putWithLane, remove, removeWithLane];

export async function swapRecord(
  session: Session,
  change: Change,
  nonce: string,
): Promise<Swapped> {
  const { tenant, id, expect, record, lease, lane } = change;
  const { layout } = session;
  const bucket = layout.bucketOf(tenant, id);
  const keys = [
    layout.key(bucket, "operation", tenant, id),
    layout.key(bucket, "all", tenant),
    layout.key(bucket, "open", tenant),
  ];
  const args = [String(expect), nonce, quote(id), layout.channel(tenant, id)];
  if (record) args.push(leaseText(lease), isOpen(record.state) ? "1" : "0", packRecord(record));
  else {
    keys.push(layout.key(bucket, "owned", tenant, id), layout.key(bucket, "effects", tenant));
    args.push("none", "0", "");
  }
  if (lane) {
    keys.push(layout.key(bucket, "lane", tenant, lane.name));
    args.push(String(lane.expect), lane.lane ? JSON.stringify(lane.lane) : "");
  }
  const move = record ? (lane ? putWithLane : put) : lane ? removeWithLane : remove;
  const reply = await session.ask(bucket, move, keys, args);
  if (!record && reply[0] === "ok") await letGo(session, tenant, id, reply.slice(4));
  return swappedIn(reply, change);
}

function swappedIn(reply: Reply, { tenant, id, record }: Change): Swapped {
  const [tag, time, first = "", second = ""] = reply;
  const now = Number(time);
  if (tag === "ok") {
    const sequence = versionIn(first);
    return { ok: true, version: record ? sequence : 0, leaseUntil: timeIn(second), now, sequence };
  }
  const current = storedIn(first, tenant, id);
  return tag === "lane"
    ? { ok: false, current, lane: laneIn(second), now }
    : { ok: false, current, now };
}

function leaseText(lease: LeaseChange): string {
  if (typeof lease === "string") return lease;
  if (Number.isNaN(lease)) throw new InvalidInputError("change.lease", "must be a number.");
  return String(Math.min(Math.max(Math.ceil(lease), 0), LONGEST_LEASE_MS));
}
