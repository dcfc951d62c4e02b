/**
 * Lua, and how each script begins: it makes sure that this is still the ledger it was written for,
 * and asks the server for the time.
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

/** A script on one bucket. `KEYS[1]` is the bucket's head and `ARGV[1]` the bucket's name. */
export const script = (body: string): Script => scriptOf(BEGIN + body);

export function scriptOf(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** Sets `now` (milliseconds), `us` (microseconds) and `last` (the last version handed out). */
const BEGIN = `
local bucket, last = string.match(redis.call('GET', KEYS[1]) or '', '^([^|]+)|(%d+)$')
if bucket ~= ARGV[1] then return {'lost'} end
local time = redis.call('TIME')
local us = time[1] * 1000000 + time[2]
local now = string.format('%.0f', math.floor(us / 1000))
`;

/** Hands out the next version, as `version`: the time, unless the clock has gone back. */
export const NEXT_VERSION = `
local version = string.format('%.0f', math.max(us, last + 1))
redis.call('SET', KEYS[1], bucket .. '|' .. version)
`;
