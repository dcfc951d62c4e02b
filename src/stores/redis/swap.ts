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
import {
  CHECK_LOSS,
  NEXT_VERSION,
  NEXT_VERSION_IN_CLUSTER,
  READ,
  type Script,
  type Session,
  script,
} from "./session.ts";

/** A century, in milliseconds: no lease is longer. */
const LONGEST_LEASE_MS = 100 * 366 * 24 * 3_600_000;

/**
 * KEYS: counter, operation, index, open, what the keys of scopes begin with; to remove it, owned and effects; the
 * lane, if there is one, last.
 * ARGV, after the first: the version expected; lease; id; the record's text, or nothing to remove it;
 * if there is a lane, the version expected of it and its text, or nothing to remove it.
 *
 * A row that is not a record is never taken for a missing one. A write whose nonce is there was made
 * already. Removing also returns the effects of the operation: those in other buckets are out of the
 * script's reach.
 */
const swapping = (nextVersion: string): Script =>
  script(`
local expect, leaseMs, id, text, laneExpect, laneText = unpack(ARGV, 2)
local operation, index, open, scopes, lane = KEYS[2], KEYS[3], KEYS[4], KEYS[5], laneText and KEYS[#KEYS]
local row = redis.call('GETRANGE', operation, 0, 127)
local was, lease, order, wasOpen, nonce, scope = string.match(row, '^(%d+)|(%d*)|(%d+)|([01])|([^|]*)|(%x*)|')
if (was or '0') ~= expect or (row ~= '' and not was) then
  if nonce and nonce == string.match(text, '|([^|]*)|') then return {'ok', time[1], time[2], was, lease} end
${CHECK_LOSS}
  return {'refused', time[1], time[2], redis.call('GET', operation) or ''}
end
if lane then
  local there = redis.call('GET', lane) or ''
  if (string.match(there, '^(%d+)|') or '0') ~= laneExpect then
    return {'lane_refused', time[1], time[2], redis.call('GET', operation) or '', there}
  end
end
${nextVersion}
if lane and laneText == '' then redis.call('DEL', lane)
elseif lane then redis.call('SET', lane, version .. '|' .. laneText) end
if text == '' then
  local owned, effects = KEYS[6], KEYS[7]
  local had = redis.call('SMEMBERS', owned)
  for _, effect in ipairs(had) do
    if redis.call('HGET', effects, effect) == id then redis.call('HDEL', effects, effect) end
  end
  redis.call('DEL', operation, owned)
  redis.call('ZREM', index, id)
  redis.call('ZREM', open, id)
  if scope then redis.call('ZREM', scopes .. scope, id) end
  redis.call('PUBLISH', operation, '')
  return {'ok', time[1], time[2], version, '', unpack(had)}
end
if leaseMs == 'none' then lease = ''
elseif leaseMs ~= 'keep' then lease = time[1] * 1000 + math.floor(time[2] / 1000) + leaseMs end
lease = lease or ''
local isOpen = string.sub(text, 1, 1)
if not was then
  order = version
  redis.call('ZADD', index, order, id)
  redis.call('ZADD', scopes .. string.match(text, '|(%x*)|'), order, id)
end
if isOpen ~= (wasOpen or '0') then
  if isOpen == '1' then redis.call('ZADD', open, order, id) else redis.call('ZREM', open, id) end
end
redis.call('SET', operation, version .. '|' .. lease .. '|' .. order .. '|' .. text)
if was then redis.call('PUBLISH', operation, '') end
return 'ok|' .. time[1] .. '|' .. time[2] .. '|' .. version .. '|' .. lease
`);

const SWAP = swapping(NEXT_VERSION);
const SWAP_IN_CLUSTER = swapping(NEXT_VERSION_IN_CLUSTER);

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
    layout.key(bucket, "index", tenant),
    layout.key(bucket, "open", tenant),
    layout.key(bucket, "scope", tenant),
  ];
  const text = record ? recordText(record, nonce) : "";
  const args = [String(expect), leaseText(lease), quote(id), text];
  if (!record) {
    keys.push(layout.key(bucket, "owned", tenant, id), layout.key(bucket, "effects", tenant));
  }
  if (lane) {
    keys.push(layout.key(bucket, "lane", tenant, lane.name));
    args.push(String(lane.expect), lane.lane ? JSON.stringify(lane.lane) : "");
  }
  const move = layout.buckets > 1 ? SWAP_IN_CLUSTER : SWAP;
  const { tag, now, values } = await session.ask(bucket, move, keys, args);
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
