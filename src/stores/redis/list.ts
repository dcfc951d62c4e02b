/**
 * Lists a tenant's operations in the order of creation or its reverse, merged from all buckets; wipes and removes the old
 * ones in that order.
 *
 * A bucket has sorted sets of names: of all operations, of the open ones, and of those of each scope. A list reads the
 * shortest that has all it asks for, and compares the records.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { pruneAs, wipePayloads } from "../../ledger/prune.ts";
import { matches, pageLimit, pageOf, pruneLimit, type Row, rowOf } from "../../ledger/query.ts";
import type { StateTag, Stored } from "../../ledger/record.ts";
import type { Change, ListQuery, Page, Pruned, PruneQuery, Swapped } from "../../ledger/store.ts";
import { type Layout, quote, recordIn, scopeHash } from "./layout.ts";
import { CHECK_LOSS, READ, type Script, type Session, script } from "./session.ts";

/** How many records are read at a time, from all buckets together. */
const AT_ONCE = 128;
/** From one bucket, at least. */
const LEAST_AT_ONCE = 8;
/** Those of `isOpen`. */
const OPEN: ReadonlySet<StateTag> = new Set(["held", "claimed", "unknown"]);
const CURSOR = /^([1-9]\d{0,15})\.(\d{1,4})$/;

interface Entry extends Row {
  /** The position in the order of creation. */
  readonly order: number;
}

/** One bucket's part of the list, as far as it was read. */
interface Stream {
  readonly bucket: number;
  /** Where to read on: `"(5"` is beyond order 5, `"5"` is at 5 or beyond it. */
  from: string;
  read: Entry[];
  ended: boolean;
}

/** KEYS: counter, the set. ARGV, after the first: from which order on, count, `newest` or `oldest` first. */
const NAMES: Script = script(`${CHECK_LOSS}
local found = {time[1], time[2]}
local command, to = 'ZRANGEBYSCORE', '+inf'
if ARGV[4] == 'newest' then command, to = 'ZREVRANGEBYSCORE', '-inf' end
for place, item in ipairs(redis.call(command, KEYS[2], ARGV[2], to, 'WITHSCORES', 'LIMIT', 0, ARGV[3])) do
  found[place + 2] = item
end
return found
`);

/**
 * Reads the records of these names, and removes from the set a name without a record: one that was
 * evicted, or deleted by hand. KEYS: counter, the set, operations. ARGV, after the first: ids.
 */
const RECORDS: Script = script(`${CHECK_LOSS}
local found = {time[1], time[2]}
for place = 3, #KEYS do
  local row = redis.call('GET', KEYS[place])
  if not row then redis.call('ZREM', KEYS[2], ARGV[place - 1]) end
  found[place] = row or ''
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
      from: startOf(query, bucket),
      read: [],
      ended: query.states?.length === 0,
    }),
  );
  const count = Math.max(LEAST_AT_ONCE, Math.ceil(AT_ONCE / buckets));
  await Promise.all(streams.map((stream) => fill(session, query, stream, count)));
  const rows: Row[] = [];
  let cursor = "";
  for (;;) {
    const next = nextOf(streams, query);
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
  const set = setOf(layout, bucket, query);
  const direction = query.newestFirst ? "newest" : "oldest";
  while (stream.read.length === 0 && !stream.ended) {
    const args = [stream.from, String(count), direction];
    const { values } = await session.ask(bucket, NAMES, [set], args);
    const names = namesIn(values);
    stream.ended = names.length < count;
    const last = names.at(-1);
    if (!last) return;
    stream.from = `(${last.order}`;
    const keys = names.map(({ id }) => layout.key(bucket, "operation", tenant, id));
    const ids = names.map(({ id }) => quote(id));
    const { values: rows } = await session.ask(bucket, RECORDS, [set, ...keys], ids);
    stream.read = names.flatMap(({ id, order }, place) => {
      const text = rows[place] ?? "";
      if (text === "") return [];
      const { stored } = rowOf(id, () => recordIn(text, tenant, id));
      return stored && !matches(stored.record, query) ? [] : [{ id, order, stored }];
    });
  }
}

function setOf(layout: Layout, bucket: number, { tenant, scope, states }: ListQuery): string {
  if (scope !== undefined) return layout.key(bucket, "scope", tenant) + scopeHash(scope);
  const isOpenOnly = states?.every((state) => OPEN.has(state));
  return layout.key(bucket, isOpenOnly ? "open" : "index", tenant);
}

/** Names and orders by turns. */
const namesIn = (
  found: readonly string[],
): readonly { readonly id: string; readonly order: number }[] =>
  found.flatMap((name, place) =>
    place % 2 === 0 ? [{ id: JSON.parse(name) as string, order: Number(found[place + 1]) }] : [],
  );

/** The stream whose entry is the next one of the list; of two as old, that of the earlier bucket. */
function nextOf(streams: readonly Stream[], query: ListQuery): Stream | undefined {
  const direction = query.newestFirst ? -1 : 1;
  const placeOf = (stream: Stream | undefined) =>
    direction * (stream?.read[0]?.order ?? direction * Number.POSITIVE_INFINITY);
  let next: Stream | undefined;
  for (const stream of streams) if (placeOf(stream) < placeOf(next)) next = stream;
  return next;
}

/** Orders are unique in a bucket, so a place in the whole list is an order and a bucket. */
function startOf({ cursor, newestFirst }: ListQuery, bucket: number): string {
  if (cursor === undefined) return newestFirst ? "inf" : "(0";
  const [, order, last] = CURSOR.exec(cursor) ?? [];
  if (order === undefined) {
    throw new InvalidInputError("query.cursor", "must come from the page before.");
  }
  return bucket > Number(last) ? order : `(${order}`;
}

const SETTLED: readonly StateTag[] = ["committed", "not_applied", "denied"];

/** Each by the same compare-and-swap as any change. */
export function createPruner(
  session: Session,
  swap: (change: Change) => Promise<Swapped>,
): (query: PruneQuery) => Promise<Pruned> {
  /** Where a pruning stopped at its limit. The next goes on there: what is pruned already is long. */
  let stopped: { readonly asked: string; readonly cursor: string | undefined } | undefined;

  return async (query) => {
    const { tenant, payloadsOlderThanMs, tombstonesOlderThanMs } = query;
    const asked = JSON.stringify([tenant, payloadsOlderThanMs, tombstonesOlderThanMs]);
    let cursor = stopped?.asked === asked ? stopped.cursor : undefined;
    let left = pruneLimit(query.limit);
    stopped = undefined;
    const pruned = { payloads: 0, tombstones: 0 };
    const { now } = await session.ask(0, READ, []);

    async function pruneOne({ record, version }: Stored): Promise<void> {
      const removes = pruneAs(record, query, now) === "remove";
      const { ok } = await swap({
        tenant,
        id: record.id,
        expect: version,
        record: removes ? undefined : wipePayloads(record),
        lease: "keep",
      });
      // Another writer may have changed it, which makes it young again.
      if (ok) pruned[removes ? "tombstones" : "payloads"] += 1;
    }

    for (;;) {
      const page = await listRecords(session, { tenant, states: SETTLED, cursor, limit: AT_ONCE });
      const due = page.items
        .filter(({ record }) => pruneAs(record, query, now) !== "keep")
        .slice(0, left);
      await Promise.all(due.map(pruneOne));
      left -= due.length;
      if (left === 0) stopped = { asked, cursor };
      if (left === 0 || page.cursor === undefined) return pruned;
      cursor = page.cursor;
    }
  };
}
