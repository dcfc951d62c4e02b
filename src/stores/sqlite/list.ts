/**
 * Lists operations in the order of creation or its reverse, a limited number of rows at a time: between two reads the
 * event loop goes on.
 *
 * @module
 */

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { InvalidInputError } from "../../errors.ts";
import { unpackRecord } from "../../ledger/codec/record-text.ts";
import { matches, pageLimit, pageOf, type Row, rowOf } from "../../ledger/query.ts";
import { isOpen, type State, type Stored } from "../../ledger/record.ts";
import type { ListQuery, Page } from "../../ledger/store.ts";
import { STAGE } from "./schema.ts";

/** `pause` is awaited between two reads. */
export type List = (query: ListQuery, pause: () => Promise<void>) => Promise<Page>;

interface Directions {
  readonly onward: StatementSync;
  readonly back: StatementSync;
}

/** How many rows are compared at a time, at most: a few milliseconds. */
const ROWS_AT_ONCE = 512;

export function listIn(db: DatabaseSync): List {
  const rowsWhere = (where: string): Directions => {
    const rows = `SELECT * FROM operation WHERE ${where}`;
    return {
      onward: db.prepare(`${rows} AND seq > ? ORDER BY seq LIMIT ${ROWS_AT_ONCE}`),
      back: db.prepare(`${rows} AND seq < ? ORDER BY seq DESC LIMIT ${ROWS_AT_ONCE}`),
    };
  };
  const byResource = rowsWhere("tenant = ? AND resource = ?");
  const byScope = rowsWhere("tenant = ? AND scope = ?");
  // An open row has no `settled_at`, so the index has these in the order of creation.
  const open = rowsWhere(`stage = ${STAGE.open} AND tenant = ? AND settled_at IS NULL`);
  const all = rowsWhere("true");

  /** The statement with the fewest rows that do not match. */
  function choose(query: ListQuery): [Directions, ...SQLInputValue[]] {
    const { tenant, resource, scope, states } = query;
    if (resource !== undefined) return [byResource, tenant, resource];
    if (scope !== undefined) return [byScope, tenant, scope];
    return states?.every(isOpenTag) ? [open, tenant] : [all];
  }

  return async (query, pause) => {
    const { cursor, newestFirst } = query;
    const [{ onward, back }, ...values] = choose(query);
    const limit = pageLimit(query.limit);
    const found: Row[] = [];
    /** The place of the last one that was found. */
    let last: unknown;
    let after = newestFirst ? Number.MAX_SAFE_INTEGER : 0;
    if (cursor !== undefined) after = placeIn(cursor);
    for (;;) {
      const rows = (newestFirst ? back : onward).all(...values, after);
      for (const row of rows) {
        if (row.tenant !== query.tenant) continue;
        const entry = rowOf(String(row.id), () => storedOf(row));
        if (entry.stored && !matches(entry.stored.record, query)) continue;
        if (found.length === limit) return pageOf(found, String(last));
        found.push(entry);
        last = row.seq;
      }
      if (rows.length < ROWS_AT_ONCE) return pageOf(found);
      after = Number(rows.at(-1)?.seq);
      await pause();
    }
  };
}

function placeIn(cursor: string): number {
  const place = Number(cursor);
  if (Number.isSafeInteger(place) && place >= 1) return place;
  throw new InvalidInputError("query.cursor", "must be the cursor of an earlier page.");
}

const isOpenTag = (tag: State["tag"]): boolean => isOpen({ tag } as State);

export function storedOf(row: Record<string, SQLOutputValue>): Stored {
  const { text, tenant, id, version, lease } = row;
  const leaseUntil = lease === null ? undefined : Number(lease);
  const record = unpackRecord(String(text), String(tenant), String(id));
  return { record, version: Number(version), leaseUntil };
}
