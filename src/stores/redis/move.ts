/**
 * Writes one record by compare-and-swap: one script, in which record, index, lease and, on one
 * server, the lane change together or not at all.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Change, LeaseChange, Swapped } from "../../ledger/store.ts";
import { letGo } from "./effects.ts";
import { quote } from "./layout.ts";
import { laneIn, laneTailOf, leaseIn, storedIn, tailOf, versionIn } from "./row.ts";
import { COUNT, COUNT_WITH_OTHERS, type Script, script, TELL_TIME } from "./script.ts";
import type { Session } from "./session.ts";

/** A century, in milliseconds: no lease is longer. */
const LONGEST_LEASE_MS = 100 * 366 * 24 * 3_600_000;

/**
 * KEYS: counter, operation, index; to remove, owned and effects; the lane, if there is one, last.
 * ARGV: expect, lease, id, tail; the lane's expect and tail, if there is one.
 *
 * A row that is no row is never taken for none.
 */
const COMPARE = `${TELL_TIME}
local row = redis.call('GETRANGE', KEYS[2], '0', '127')
local was, lease, order, open = string.match(row, '^(%d+)|([^|]*)|(%d+)|([01])|')
if (was or '0') ~= ARGV[1] or (row ~= '' and not was) then
  if row == '' and redis.call('EXISTS', KEYS[1]) == 0 then return {'lost'} end
  local nonce = string.match(row, '^%d+|[^|]*|%d+|[01]|([^|]*)|')
  if nonce and nonce == string.match(ARGV[4], '|([^|]*)|') then
    return {'ok', time[1], time[2], was, lease}
  end
  return {'refused', time[1], time[2], redis.call('GET', KEYS[2]) or ''}
end
`;

/** The same where nothing is expected, which is quicker seen. */
const COMPARE_NEW = `${TELL_TIME}
if redis.call('EXISTS', KEYS[2]) == 1 then
  local row = redis.call('GET', KEYS[2])
  local was, lease, nonce = string.match(row, '^(%d+)|([^|]*)|%d+|[01]|([^|]*)|')
  if was and nonce == string.match(ARGV[4], '|([^|]*)|') then
    return {'ok', time[1], time[2], was, lease}
  end
  return {'refused', time[1], time[2], row}
end
`;

const COMPARE_LANE = `
local lane = KEYS[#KEYS]
local laneRow = redis.call('GET', lane) or ''
if (string.match(laneRow, '^(%d+)|') or '0') ~= ARGV[5] then
  return {'lane', time[1], time[2], redis.call('GET', KEYS[2]) or '', laneRow}
end
`;

const WRITE_LANE = `
if ARGV[6] == '' then redis.call('DEL', lane)
else redis.call('SET', lane, version .. '|' .. ARGV[6]) end
`;

/** Most calls end so. As one text it is made and read in half the time of a list. */
const DONE = `
return 'ok|' .. time[1] .. '|' .. time[2] .. '|' .. version .. '|' .. lease
`;

/** 49 is the character "1": it is open. */
const PUT = `
if ARGV[2] == 'none' then lease = ''
elseif ARGV[2] ~= 'keep' then lease = time[1] .. '.' .. time[2] .. '+' .. ARGV[2] end
local opens = string.byte(ARGV[4]) == 49
if opens ~= (open == '1') then
  redis.call('ZADD', KEYS[3], opens and '-' .. order or order, ARGV[3])
end
redis.call('SET', KEYS[2], version .. '|' .. lease .. '|' .. order .. '|' .. ARGV[4])
redis.call('PUBLISH', KEYS[2], '')
${DONE}`;

/** Nobody is told: nobody waits for what is not there. */
const CREATE = `
local lease = ''
if ARGV[2] ~= 'none' and ARGV[2] ~= 'keep' then
  lease = time[1] .. '.' .. time[2] .. '+' .. ARGV[2]
end
redis.call('ZADD', KEYS[3], string.byte(ARGV[4]) == 49 and '-' .. version or version, ARGV[3])
redis.call('SET', KEYS[2], version .. '|' .. lease .. '|' .. version .. '|' .. ARGV[4])
${DONE}`;

/** Also tells the effects it had: those in other buckets are not in reach. */
const REMOVE = `
local effects = redis.call('SMEMBERS', KEYS[4])
for _, effect in ipairs(effects) do
  if redis.call('HGET', KEYS[5], effect) == ARGV[3] then redis.call('HDEL', KEYS[5], effect) end
end
redis.call('DEL', KEYS[2], KEYS[4])
redis.call('ZREM', KEYS[3], ARGV[3])
redis.call('PUBLISH', KEYS[2], '')
return {'ok', time[1], time[2], version, '', unpack(effects)}
`;

interface Moves {
  readonly create: Script;
  readonly put: Script;
  readonly remove: Script;
}

const moves = (counting: string, comparingLane = "", writingLane = ""): Moves => {
  const middle = comparingLane + counting + writingLane;
  return {
    create: script(COMPARE_NEW + middle + CREATE),
    put: script(COMPARE + middle + PUT),
    remove: script(COMPARE + middle + REMOVE),
  };
};

const ALONE = moves(COUNT);
const WITH_LANE = moves(COUNT, COMPARE_LANE, WRITE_LANE);
const IN_CLUSTER = moves(COUNT_WITH_OTHERS);

/** To be loaded before they are needed. */
export const MOVES: readonly Script[] = [ALONE, WITH_LANE, IN_CLUSTER].flatMap(
  ({ create, put, remove }) => [create, put, remove],
);

export async function swapRecord(
  session: Session,
  change: Change,
  nonce: string,
): Promise<Swapped> {
  const { tenant, id, expect, record, lease, lane } = change;
  const { layout } = session;
  const bucket = layout.bucketOf(tenant, id);
  const keys = [layout.key(bucket, "operation", tenant, id), layout.key(bucket, "index", tenant)];
  const args = [String(expect), leaseText(lease), quote(id), tailOf(record, nonce)];
  if (!record) {
    keys.push(layout.key(bucket, "owned", tenant, id), layout.key(bucket, "effects", tenant));
  }
  if (lane) {
    keys.push(layout.key(bucket, "lane", tenant, lane.name));
    args.push(String(lane.expect), laneTailOf(lane.lane, nonce));
  }
  const { create, put, remove } = layout.buckets > 1 ? IN_CLUSTER : lane ? WITH_LANE : ALONE;
  const move = !record ? remove : expect === 0 ? create : put;
  const { tag, now, values } = await session.ask(bucket, move, keys, args);
  const [first = "", second = "", ...effects] = values;
  if (tag !== "ok") {
    const current = storedIn(first, tenant, id);
    return tag === "lane"
      ? { ok: false, current, lane: laneIn(second), now }
      : { ok: false, current, now };
  }
  if (effects.length > 0) await letGo(session, tenant, id, effects);
  const version = versionIn(first);
  const sequence = session.saw(bucket, version);
  return { ok: true, version: record ? version : 0, leaseUntil: leaseIn(second), now, sequence };
}

function leaseText(lease: LeaseChange): string {
  if (typeof lease === "string") return lease;
  if (Number.isNaN(lease)) throw new InvalidInputError("change.lease", "must be a number.");
  return String(Math.min(Math.max(Math.ceil(lease), 0), LONGEST_LEASE_MS));
}
