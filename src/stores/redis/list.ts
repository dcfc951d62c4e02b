/**
 * Lists a tenant's operations in the order of creation, merged from all buckets.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { matches, pageLimit } from "../../ledger/query.ts";
import type { StateTag, Stored } from "../../ledger/record.ts";
import type { ListQuery, Page } from "../../ledger/store.ts";
import { type Entry, type From, readIndex, type Stretch } from "./index-page.ts";
import type { Session } from "./session.ts";

/** How many records are read at a time, from all buckets together. */
const STRETCH = 128;
const LEAST_STRETCH = 8;
/** Those of `isOpen`. */
const OPEN: ReadonlySet<StateTag> = new Set(["held", "queued", "claimed", "unknown"]);
const CURSOR = /^([1-9]\d{0,15})\.(\d{1,4})$/;

/** One bucket's part of the list. */
interface Stream {
  readonly bucket: number;
  from: From;
  waiting: Entry[];
  ended: boolean;
}

export async function listRecords(session: Session, query: ListQuery): Promise<Page> {
  const limit = pageLimit(query.limit);
  const { buckets } = session.layout;
  const streams = Array.from(
    { length: buckets },
    (_, bucket): Stream => ({
      bucket,
      from: startOf(query.cursor, bucket),
      waiting: [],
      ended: false,
    }),
  );
  if (query.states?.length === 0) return { items: [] };
  const side = sideOf(query.states);
  const count = Math.max(LEAST_STRETCH, Math.ceil(STRETCH / buckets));

  async function fill(stream: Stream): Promise<void> {
    while (stream.waiting.length === 0 && !stream.ended) {
      const { bucket, from } = stream;
      const page = await readIndex(session, { tenant: query.tenant, bucket, side, from, count });
      stream.waiting = page.entries.filter(({ stored }) => matches(stored.record, query));
      stream.ended = page.ended;
      if (page.last !== undefined) stream.from = `(${page.last}`;
    }
  }

  const items: Stored[] = [];
  let cursor = "";
  await Promise.all(streams.map(fill));
  for (let next = first(streams); next; next = first(streams)) {
    if (items.length === limit) return { items, cursor };
    const entry = next.waiting.shift();
    if (!entry) break;
    items.push(entry.stored);
    cursor = `${entry.order}.${next.bucket}`;
    await fill(next);
  }
  return { items };
}

/** A list of what is open need not walk through all that is settled, and the other way round. */
function sideOf(states: readonly StateTag[] | undefined): Stretch["side"] {
  if (states?.every((state) => OPEN.has(state))) return "open";
  return states?.some((state) => OPEN.has(state)) === false ? "settled" : "both";
}

/** The stream whose next entry is the oldest; of two as old, that of the earlier bucket. */
function first(streams: readonly Stream[]): Stream | undefined {
  let found: Stream | undefined;
  for (const stream of streams) {
    const order = stream.waiting[0]?.order;
    if (order === undefined) continue;
    if (order < (found?.waiting[0]?.order ?? Number.POSITIVE_INFINITY)) found = stream;
  }
  return found;
}

/** Orders are unique in a bucket, so a place in the whole list is an order and a bucket. */
function startOf(cursor: string | undefined, bucket: number): From {
  if (cursor === undefined) return "(0";
  const [, order, last] = CURSOR.exec(cursor) ?? [];
  if (order === undefined) {
    throw new InvalidInputError("query.cursor", "must come from the page before.");
  }
  return bucket > Number(last) ? `${Number(order)}` : `(${Number(order)}`;
}
