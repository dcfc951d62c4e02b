/**
 * Lists a tenant's operations in the order of creation, merged from all buckets.
 *
 * The index of a bucket is one sorted set: a settled operation has its order as its score, an open one
 * the same below zero. So changing sides is one write, and each side is a range: a list of what is
 * open does not walk through all that is settled.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { matches, pageLimit, pageOf, type Row, rowOf } from "../../ledger/query.ts";
import type { StateTag } from "../../ledger/record.ts";
import type { ListQuery, Page } from "../../ledger/store.ts";
import { quote, recordIn } from "./layout.ts";
import { CHECK_LOSS, type Script, type Session, script } from "./session.ts";

/** How many records are read at a time, from all buckets together. */
const AT_ONCE = 128;
/** From one bucket, at least. */
const LEAST_AT_ONCE = 8;
/** Those of `isOpen`. */
const OPEN: ReadonlySet<StateTag> = new Set(["held", "queued", "claimed", "unknown"]);
const CURSOR = /^([1-9]\d{0,15})\.(\d{1,4})$/;

interface Entry extends Row {
  /** The position in the order of creation. */
  readonly order: number;
}

/** One bucket's part of the list, as far as it was read. */
interface Stream {
  readonly bucket: number;
  /** Where to read on: `"(5"` is after order 5, `"5"` is at 5 or after it. */
  from: string;
  read: Entry[];
  ended: boolean;
}

/**
 * Both sides of the index at one moment, so that an operation that changes sides is not missed.
 * KEYS: counter, index. ARGV, after the first: the side or `both`, `(` or nothing,
 * order, count.
 */
const NAMES: Script = script(`${CHECK_LOSS}
local found = {'ok', time[1], time[2]}
local function add(list)
  for _, item in ipairs(list) do found[#found + 1] = item end
end
if ARGV[2] ~= 'settled' then
  add(redis.call('ZREVRANGEBYSCORE', KEYS[2], ARGV[3] .. '-' .. ARGV[4], '-inf',
    'WITHSCORES', 'LIMIT', 0, ARGV[5]))
end
if ARGV[2] ~= 'open' then
  add(redis.call('ZRANGEBYSCORE', KEYS[2], ARGV[3] .. ARGV[4], '+inf',
    'WITHSCORES', 'LIMIT', 0, ARGV[5]))
end
return found
`);

/**
 * Reads the records of these names, and removes from the index a name without a record: one that was
 * evicted, or deleted by hand. KEYS: counter, index, operations. ARGV, after the first: ids.
 */
const RECORDS: Script = script(`${CHECK_LOSS}
local found = {'ok', time[1], time[2]}
for place = 3, #KEYS do
  local row = redis.call('GET', KEYS[place])
  if not row then redis.call('ZREM', KEYS[2], ARGV[place - 1]) end
  found[place + 1] = row or ''
end
return found
`);

export async function listRecords(session: Session, query: ListQuery): Promise<Page> {
  const limit = pageLimit(query.limit);
  const { buckets } = session.layout;
  const streams = Array.from(
    { length: buckets },
    (_, bucket): Stream => ({
      bucket,
      from: startOf(query.cursor, bucket),
      read: [],
      ended: query.states?.length === 0,
    }),
  );
  const count = Math.max(LEAST_AT_ONCE, Math.ceil(AT_ONCE / buckets));
  await Promise.all(streams.map((stream) => fill(session, query, stream, count)));
  const rows: Row[] = [];
  let cursor = "";
  for (;;) {
    const next = oldestOf(streams);
    const entry = next?.read.shift();
    if (!next || !entry) return pageOf(rows);
    if (rows.length === limit) return pageOf(rows, cursor);
    rows.push(entry);
    cursor = `${entry.order}.${next.bucket}`;
    await fill(session, query, next, count);
  }
}

/** Reads on until there is an entry that matches, or the bucket has no more. */
async function fill(
  session: Session,
  query: ListQuery,
  stream: Stream,
  count: number,
): Promise<void> {
  const { tenant } = query;
  const { bucket } = stream;
  const { layout } = session;
  const index = layout.key(bucket, "index", tenant);
  while (stream.read.length === 0 && !stream.ended) {
    const from = stream.from.startsWith("(") ? ["(", stream.from.slice(1)] : ["", stream.from];
    const args = [sideOf(query.states), ...from, String(count)];
    const { values } = await session.ask(bucket, NAMES, [index], args);
    const names = namesIn(values).slice(0, count);
    stream.ended = names.length < count;
    const last = names.at(-1);
    if (!last) return;
    stream.from = `(${last.order}`;
    const keys = names.map(({ id }) => layout.key(bucket, "operation", tenant, id));
    const ids = names.map(({ id }) => quote(id));
    const { values: rows } = await session.ask(bucket, RECORDS, [index, ...keys], ids);
    stream.read = names.flatMap(({ id, order }, place) => {
      const text = rows[place] ?? "";
      if (text === "") return [];
      const { stored } = rowOf(id, () => recordIn(text, tenant, id));
      return stored && !matches(stored.record, query) ? [] : [{ id, order, stored }];
    });
  }
}

function sideOf(states: readonly StateTag[] | undefined): "both" | "open" | "settled" {
  if (states?.every((state) => OPEN.has(state))) return "open";
  return states?.some((state) => OPEN.has(state)) === false ? "settled" : "both";
}

/** Names and scores by turns, from one side or both. */
function namesIn(
  found: readonly string[],
): readonly { readonly id: string; readonly order: number }[] {
  return found
    .flatMap((name, place) =>
      place % 2 === 0
        ? [{ id: JSON.parse(name) as string, order: Math.abs(Number(found[place + 1])) }]
        : [],
    )
    .sort((one, other) => one.order - other.order);
}

/** The stream whose next entry is the oldest; of two as old, that of the earlier bucket. */
function oldestOf(streams: readonly Stream[]): Stream | undefined {
  let oldest: Stream | undefined;
  for (const stream of streams) {
    const order = stream.read[0]?.order ?? Number.POSITIVE_INFINITY;
    if (order < (oldest?.read[0]?.order ?? Number.POSITIVE_INFINITY)) oldest = stream;
  }
  return oldest;
}

/** Orders are unique in a bucket, so a place in the whole list is an order and a bucket. */
function startOf(cursor: string | undefined, bucket: number): string {
  if (cursor === undefined) return "(0";
  const [, order, last] = CURSOR.exec(cursor) ?? [];
  if (order === undefined) {
    throw new InvalidInputError("query.cursor", "must come from the page before.");
  }
  return bucket > Number(last) ? order : `(${order}`;
}
