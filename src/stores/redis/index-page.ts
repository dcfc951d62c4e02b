/**
 * Reads a stretch of one bucket's index, with the records it names.
 *
 * @module
 */

import type { Stored } from "../../ledger/record.ts";
import { quote } from "./layout.ts";
import { storedIn } from "./row.ts";
import { type Script, script } from "./script.ts";
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

export interface Stretch {
  readonly tenant: string;
  readonly bucket: number;
  readonly index: "all" | "open";
  /** From where, as Redis writes the end of a range: `-inf`, `5`, or `(5` for what comes after it. */
  readonly from: string;
  readonly count: number;
}

/** KEYS: head, index. ARGV: bucket, from, count. */
const names = script(`
local found = redis.call('ZRANGEBYSCORE', KEYS[2], ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3])
return {'ok', now, unpack(found)}
`);

/** KEYS: head, operations. */
const rows = script(`
local found = {'ok'}
for index = 2, #KEYS do found[index] = redis.call('GET', KEYS[index]) or '' end
return found
`);

/** Strikes out a name without a record. KEYS: head, operation, all, open. ARGV: bucket, id. */
const strike = script(`
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('ZREM', KEYS[3], ARGV[2])
  redis.call('ZREM', KEYS[4], ARGV[2])
end
return {'ok'}
`);

export const INDEX: readonly Script[] = [names, rows, strike];

export async function readIndex(session: Session, stretch: Stretch): Promise<IndexPage> {
  const { tenant, bucket, index, from, count } = stretch;
  const { layout } = session;
  const key = layout.key(bucket, index, tenant);
  const [, now, ...found] = await session.ask(bucket, names, [key], [from, String(count)]);
  const named = pairs(found);
  const ended = named.length < count;
  const last = named.at(-1)?.order;
  if (named.length === 0) return { entries: [], last, ended, now: Number(now) };
  const keys = named.map(({ id }) => layout.key(bucket, "operation", tenant, id));
  const [, ...texts] = await session.ask(bucket, rows, keys, []);
  const entries: Entry[] = [];
  const missing: string[] = [];
  for (const [place, { id, order }] of named.entries()) {
    const stored = storedIn(texts[place] ?? "", tenant, id);
    if (stored) entries.push({ order, stored });
    else missing.push(id);
  }
  await Promise.all(missing.map((id) => strikeOut(session, bucket, tenant, id)));
  return { entries, last, ended, now: Number(now) };
}

function pairs(found: readonly string[]): { readonly id: string; readonly order: number }[] {
  const named: { readonly id: string; readonly order: number }[] = [];
  for (let place = 0; place + 1 < found.length; place += 2) {
    named.push({ id: JSON.parse(found[place] ?? "") as string, order: Number(found[place + 1]) });
  }
  return named;
}

/** It was evicted, or removed by hand. */
async function strikeOut(
  session: Session,
  bucket: number,
  tenant: string,
  id: string,
): Promise<void> {
  const { layout } = session;
  const keys = [
    layout.key(bucket, "operation", tenant, id),
    layout.key(bucket, "all", tenant),
    layout.key(bucket, "open", tenant),
  ];
  await session.ask(bucket, strike, keys, [quote(id)]);
}
