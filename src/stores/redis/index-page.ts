/**
 * Reads a stretch of one bucket's index, with the records it names.
 *
 * The index is one sorted set: a settled operation stands at its order, an open one at the same
 * below zero. So a move from one side to the other is one change, and each side is a range.
 *
 * @module
 */

import type { Stored } from "../../ledger/record.ts";
import { quote } from "./layout.ts";
import { storedIn } from "./row.ts";
import { SAME_LEDGER, type Script, script } from "./script.ts";
import type { Session } from "./session.ts";

export interface Entry {
  /** The place in the order of creation. */
  readonly order: number;
  readonly stored: Stored;
}

export interface IndexPage {
  readonly entries: readonly Entry[];
  /** The order of the last name read, whether or not its record was there. */
  readonly last: number | undefined;
  /** Whether the index has no more. */
  readonly ended: boolean;
  readonly now: number;
}

/** A place to read on from: `"(5"` is after 5, `"5"` is at 5 or after it. */
export type From = `(${number}` | `${number}`;

export interface Stretch {
  readonly tenant: string;
  readonly bucket: number;
  readonly side: "both" | "open" | "settled";
  readonly from: From;
  readonly count: number;
}

interface Named {
  readonly id: string;
  readonly order: number;
}

/** KEYS: counter, index. ARGV: side, `(` or nothing, order, count. Both sides at one moment. */
const names = script(`${SAME_LEDGER}
local found = {'ok', time[1], time[2]}
local function add(list)
  for _, item in ipairs(list) do found[#found + 1] = item end
end
if ARGV[1] ~= 'settled' then
  add(redis.call('ZREVRANGEBYSCORE', KEYS[2], ARGV[2] .. '-' .. ARGV[3], '-inf',
    'WITHSCORES', 'LIMIT', 0, ARGV[4]))
end
if ARGV[1] ~= 'open' then
  add(redis.call('ZRANGEBYSCORE', KEYS[2], ARGV[2] .. ARGV[3], '+inf',
    'WITHSCORES', 'LIMIT', 0, ARGV[4]))
end
return found
`);

/** KEYS: counter, operations. */
const rows = script(`${SAME_LEDGER}
local found = {'ok', time[1], time[2]}
for index = 2, #KEYS do found[index + 2] = redis.call('GET', KEYS[index]) or '' end
return found
`);

/** Strikes out a name without a record. KEYS: counter, operation, index. ARGV: id. */
const strike = script(`${SAME_LEDGER}
if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('ZREM', KEYS[3], ARGV[1]) end
return {'ok', time[1], time[2]}
`);

export const INDEX: readonly Script[] = [names, rows, strike];

export async function readIndex(session: Session, stretch: Stretch): Promise<IndexPage> {
  const { tenant, bucket, count } = stretch;
  const { named, now } = await readNames(session, stretch);
  const ended = named.length < count;
  const last = named.at(-1)?.order;
  if (named.length === 0) return { entries: [], last, ended, now };
  const { layout } = session;
  const keys = named.map(({ id }) => layout.key(bucket, "operation", tenant, id));
  const { values: texts } = await session.ask(bucket, rows, keys, []);
  const entries: Entry[] = [];
  const missing: string[] = [];
  for (const [place, { id, order }] of named.entries()) {
    const stored = storedIn(texts[place] ?? "", tenant, id);
    if (stored) entries.push({ order, stored });
    else missing.push(id);
  }
  // Removed in between, evicted, or deleted by hand.
  await Promise.all(
    missing.map((id) => {
      const gone = layout.key(bucket, "operation", tenant, id);
      const index = layout.key(bucket, "index", tenant);
      return session.ask(bucket, strike, [gone, index], [quote(id)]);
    }),
  );
  return { entries, last, ended, now };
}

/** The next names in order, from one side or merged from both. */
async function readNames(
  session: Session,
  { tenant, bucket, side, from, count }: Stretch,
): Promise<{ readonly named: readonly Named[]; readonly now: number }> {
  const key = session.layout.key(bucket, "index", tenant);
  const [after, order] = from.startsWith("(") ? ["(", from.slice(1)] : ["", from];
  const args = [side, after, order, String(count)];
  const { now, values: found } = await session.ask(bucket, names, [key], args);
  const named: Named[] = [];
  for (let place = 0; place + 1 < found.length; place += 2) {
    const id = JSON.parse(found[place] ?? "") as string;
    named.push({ id, order: Math.abs(Number(found[place + 1])) });
  }
  named.sort((one, other) => one.order - other.order);
  return { named: named.slice(0, count), now };
}
