/**
 * Lua, and what the scripts have in common. `KEYS[1]` is always the counter of the bucket: while it
 * is there, this is still the ledger that was opened. A reply is a tag, the server's time in seconds
 * and microseconds, and what was asked for; or `lost` alone.
 *
 * Numbers leave Lua as text made by `%.0f`: its own way of writing them loses digits after fourteen.
 *
 * @module
 */

import { createHash } from "node:crypto";

export interface Script {
  readonly text: string;
  /** The name under which the server remembers it. */
  readonly sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** Sets `time`, the server's. It is left to the reader to make one number of it: that is cheaper. */
export const TELL_TIME = `
local time = redis.call('TIME')
`;

/** Begins a script that hands out no version. */
export const SAME_LEDGER: string = `${TELL_TIME}
if redis.call('EXISTS', KEYS[1]) == 0 then return {'lost'} end
`;

/** Hands out the next version, as `version`. A counter that begins anew was lost with its ledger. */
export const COUNT = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then
  redis.call('DEL', KEYS[1])
  return {'lost'}
end
local version = string.format('%.0f', count)
`;

/**
 * The same for one bucket of many. `ARGV` ends with the highest version the store has seen anywhere,
 * and in this bucket: a later change has the higher version also when the two are in different
 * buckets, whatever the servers' clocks say, and a bucket that has gone back is noticed.
 */
export const COUNT_WITH_OTHERS = `
local count = tonumber(redis.call('GET', KEYS[1]) or 0)
if count < tonumber(ARGV[#ARGV]) then return {'lost'} end
count = math.max(time[1] * 1000000 + time[2], count + 1, ARGV[#ARGV - 1] + 1)
local version = string.format('%.0f', count)
redis.call('SET', KEYS[1], version)
`;
