/**
 * The script that changes records.
 *
 * KEYS: counter, index, open, what the keys of scopes begin with; the operations; to remove one, owned
 * and effects; the lane, if there is one, last.
 * ARGV, after the first: how many operations; for each the version expected, with the nonce beside it where that is known,
 * lease, and the record's text or nothing to remove it; if there is a lane, the version expected of it and its text, or nothing
 * to remove it. Removals and lanes come alone.
 *
 * Returns three values for each operation: `ok`, version and lease; or `refused` and the row; or
 * `lane_refused`, row and lane. Removing also returns the effects of the operation: those in other
 * buckets are out of the script's reach. An index has ids as they are at the end of their keys.
 *
 * A row that is not a record is never taken for a missing one. A write whose nonce is there was made
 * already.
 *
 * @module
 */

import {
  CHECK_LOSS,
  NEXT_VERSION,
  NEXT_VERSION_IN_CLUSTER,
  type Script,
  script,
} from "./session.ts";

const swapping = (nextVersion: string): Script =>
  script(`
local index, open, scopes, changes = KEYS[2], KEYS[3], KEYS[4], tonumber(ARGV[2])
local laneExpect, laneText = ARGV[3 * changes + 3], ARGV[3 * changes + 4]
local lane, there = laneText and KEYS[#KEYS]
if lane then there = redis.call('GET', lane) or '' end
local answers, isPlain = {time[1], time[2]}, true
for at = 3, 3 * changes, 3 do
  local operation, expect, leaseMs, text = KEYS[at / 3 + 4], ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local row = redis.call('GETRANGE', operation, '0', '127')
  local was, lease, order, wasOpen, nonce =
    string.match(row, '^(%d+)|(%d*)|(%d+)|([01])|([^|]*)|%x*|')
  local tag, one, other = 'ok', was, lease
  local isAsExpected = expect == (was or '0') or (was and expect == was .. '|' .. nonce)
  if not isAsExpected or (row ~= '' and not was) then
    if not was or nonce ~= string.match(text, '|([^|]*)|') then
${CHECK_LOSS}
      tag, one, other = 'refused', redis.call('GET', operation) or '', ''
    end
  elseif lane and (string.match(there, '^(%d+)|') or '0') ~= laneExpect then
    tag, one, other = 'lane_refused', redis.call('GET', operation) or '', there
  else
${nextVersion}
    local id = string.sub(operation, #index + 1)
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
      if was then redis.call('ZREM', scopes .. string.match(row, '|[01]|[^|]*|(%x*)|'), id) end
      redis.call('PUBLISH', operation, '')
      return {time[1], time[2], 'ok', version, '', unpack(had)}
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
    one, other = version, lease
  end
  isPlain = isPlain and tag == 'ok'
  answers[at], answers[at + 1], answers[at + 2] = tag, one, other
end
return isPlain and table.concat(answers, '|') or answers
`);

export const SWAP: Script = swapping(NEXT_VERSION);
export const SWAP_IN_CLUSTER: Script = swapping(NEXT_VERSION_IN_CLUSTER);
