/**
 * Lists operations in the order of creation or its reverse, a limited number of rows at a time: between two scans the
 * event loop goes on.
 *
 * @module
 */

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { unpackRecord } from "../../ledger/codec/record-text.ts";
import { matches, type Row, rowOf } from "../../ledger/query.ts";
import { isOpen, type State, type Stored } from "../../ledger/record.ts";
import type { ListQuery } from "../../ledger/store.ts";
import { STAGE } from "./schema.ts";

/** With its place in the order of creation. */
export interface PlacedRow extends Row {
  readonly seq: number;
}

export interface Scanned {
  /** What matches, and what cannot be read. */
  readonly items: readonly PlacedRow[];
  /** The last row that was compared; `undefined` if there are no more. */
  readonly last: number | undefined;
}

/** Compares the rows that follow `after` in the order of the list, and returns at most `wanted` that match. */
export type Scan = (query: ListQuery, after: number, wanted: number) => Scanned;

/** Where a list begins: no row has this place. */
export const startOf = ({ newestFirst }: ListQuery): number =>
  newestFirst ? Number.MAX_SAFE_INTEGER : 0;

interface Directions {
  readonly onward: StatementSync;
  readonly back: StatementSync;
}

/** How many rows one scan compares at most: a few milliseconds. */
const ROWS_PER_SCAN = 512;

export function scanIn(db: DatabaseSync): Scan {
  const rowsWhere = (where: string): Directions => {
    const rows = `SELECT * FROM operation WHERE ${where}`;
    return {
      onward: db.prepare(`${rows} AND seq > ? ORDER BY seq LIMIT ${ROWS_PER_SCAN}`),
      back: db.prepare(`${rows} AND seq < ? ORDER BY seq DESC LIMIT ${ROWS_PER_SCAN}`),
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

  return (query, after, wanted) => {
    const [{ onward, back }, ...values] = choose(query);
    const rows = (query.newestFirst ? back : onward).all(...values, after);
    const items: PlacedRow[] = [];
    for (const row of rows) {
      if (row.tenant !== query.tenant) continue;
      const { id, stored } = rowOf(String(row.id), () => storedOf(row));
      if (stored && !matches(stored.record, query)) continue;
      items.push({ id, stored, seq: Number(row.seq) });
      if (items.length === wanted) break;
    }
    return { items, last: rows.length < ROWS_PER_SCAN ? undefined : Number(rows.at(-1)?.seq) };
  };
}

const isOpenTag = (tag: State["tag"]): boolean => isOpen({ tag } as State);

export function storedOf(row: Record<string, SQLOutputValue>): Stored {
  const { text, tenant, id, version, lease } = row;
  const leaseUntil = lease === null ? undefined : Number(lease);
  const record = unpackRecord(String(text), String(tenant), String(id));
  return { record, version: Number(version), leaseUntil };
}
