/**
 * Changes one record by compare-and-swap: one script, in which record, index, lease and lane change
 * together or not at all.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Change, Found, LeaseChange, Swapped } from "../../ledger/store.ts";
import { releaseEffects } from "./effects.ts";
import { laneIn, quote, recordIn, recordText } from "./layout.ts";
import { NEXT_VERSION, READ, type Script, type Session, script } from "./session.ts";

/** A century, in milliseconds: no lease is longer. */
const LONGEST_LEASE_MS = 100 * 366 * 24 * 3_600_000;

/**
 * KEYS: counter, operation, index; to remove it, owned and effects; the lane, if there is one, last.
 * ARGV, after the two of every script: the version expected, lease, id, the record's text or nothing
 * to remove it; the lane's version expected and its text, if there is one.
 *
 * A row that is not a record is never taken for a missing one. Removing also returns the effects of
 * the operation: those in other buckets are out of the script's reach.
 */
const SWAP: Script = script(`
local row = redis.call('GETRANGE', KEYS[2], 0, 127)
local was, lease, order, open, nonce = string.match(row, '^(%d+)|(%d*)|(%d+)|([01])|([^|]*)|')
if (was or '0') ~= ARGV[3] or (row ~= '' and not was) then
  if nonce and nonce == string.match(ARGV[6], '|([^|]*)|') then return {'ok', now, was, lease} end
  return {'refused', now, redis.call('GET', KEYS[2]) or ''}
end
local lane = ARGV[7] and KEYS[#KEYS]
if lane then
  local there = redis.call('GET', lane) or ''
  if (string.match(there, '^(%d+)|') or '0') ~= ARGV[7] then
    return {'lane_refused', now, redis.call('GET', KEYS[2]) or '', there}
  end
end
${NEXT_VERSION}
if lane then
  if ARGV[8] == '' then redis.call('DEL', lane)
  else redis.call('SET', lane, version .. '|' .. ARGV[8]) end
end
if ARGV[6] == '' then
  local effects = redis.call('SMEMBERS', KEYS[4])
  for _, effect in ipairs(effects) do
    if redis.call('HGET', KEYS[5], effect) == ARGV[5] then redis.call('HDEL', KEYS[5], effect) end
  end
  redis.call('DEL', KEYS[2], KEYS[4])
  redis.call('ZREM', KEYS[3], ARGV[5])
  redis.call('PUBLISH', KEYS[2], '')
  return {'ok', now, version, '', unpack(effects)}
end
if ARGV[4] == 'none' then lease = ''
elseif ARGV[4] ~= 'keep' then lease = string.format('%.0f', now + ARGV[4]) end
lease = lease or ''
order = order or version
local opens = string.sub(ARGV[6], 1, 1)
if opens ~= open then
  redis.call('ZADD', KEYS[3], opens == '1' and '-' .. order or order, ARGV[5])
end
redis.call('SET', KEYS[2], version .. '|' .. lease .. '|' .. order .. '|' .. ARGV[6])
if was then redis.call('PUBLISH', KEYS[2], '') end
return {'ok', now, version, lease}
`);

export async function swapRecord(
  session: Session,
  change: Change,
  nonce: string,
): Promise<Swapped> {
  const { tenant, id, expect, record, lease, lane } = change;
  const { layout } = session;
  const bucket = layout.bucketOf(tenant, id);
  const keys = [layout.key(bucket, "operation", tenant, id), layout.key(bucket, "index", tenant)];
  const text = record ? recordText(record, nonce) : "";
  const args = [String(expect), leaseText(lease), quote(id), text];
  if (!record) {
    keys.push(layout.key(bucket, "owned", tenant, id), layout.key(bucket, "effects", tenant));
  }
  if (lane) {
    keys.push(layout.key(bucket, "lane", tenant, lane.name));
    args.push(String(lane.expect), lane.lane ? JSON.stringify(lane.lane) : "");
  }
  const { tag, now, values } = await session.ask(bucket, SWAP, keys, args);
  const [first = "", second = "", ...effects] = values;
  if (tag !== "ok") {
    const current = recordIn(first, tenant, id);
    return tag === "lane_refused"
      ? { ok: false, current, lane: laneIn(second), now }
      : { ok: false, current, now };
  }
  if (effects.length > 0) await releaseEffects(session, tenant, id, effects);
  const version = Number(first);
  const sequence = session.saw(bucket, version);
  const leaseUntil = second === "" ? undefined : Number(second);
  return { ok: true, version: record ? version : 0, leaseUntil, now, sequence };
}

export async function readRecord(session: Session, tenant: string, id: string): Promise<Found> {
  const bucket = session.layout.bucketOf(tenant, id);
  const key = session.layout.key(bucket, "operation", tenant, id);
  const { now, values } = await session.ask(bucket, READ, [key]);
  return { stored: recordIn(values[0] ?? "", tenant, id), now };
}

function leaseText(lease: LeaseChange): string {
  if (typeof lease === "string") return lease;
  if (Number.isNaN(lease)) throw new InvalidInputError("change.lease", "must be a number.");
  return String(Math.min(Math.max(Math.ceil(lease), 0), LONGEST_LEASE_MS));
}
