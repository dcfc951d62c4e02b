/**
 * Lists operations in the order of creation or its reverse, a limited number of rows at a time: between two reads the
 * event loop goes on.
 *
 * @module
 */

import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { ClosedError } from "../../errors.ts";
import { soon } from "../../lang/clock.ts";
import { unpackRecord } from "../../ledger/codec/record-text.ts";
import { matches, pageLimit, pageOf, placeIn, type Row, rowOf } from "../../ledger/query.ts";
import { isOpen, type State, type Stored } from "../../ledger/record.ts";
import type { ListQuery, Store } from "../../ledger/store.ts";
import { STAGE } from "./schema.ts";

/** How many rows are compared at a time, at most: a few milliseconds. */
const ROWS_AT_ONCE = 512;

export const listIn =
  (db: DatabaseSync): Store["list"] =>
  async (query) => {
    const { cursor, newestFirst } = query;
    const [where, ...values] = fewest(query);
    const order = newestFirst ? "seq < ? ORDER BY seq DESC" : "seq > ? ORDER BY seq";
    const next = db.prepare(
      `SELECT * FROM operation WHERE ${where} AND ${order} LIMIT ${ROWS_AT_ONCE}`,
    );
    const limit = pageLimit(query.limit);
    const found: (Row & { readonly seq: unknown })[] = [];
    let after = newestFirst ? Number.MAX_SAFE_INTEGER : 0;
    if (cursor !== undefined) after = placeIn(cursor);
    for (;;) {
      const rows = next.all(...values, after);
      for (const row of rows) {
        if (row.tenant !== query.tenant) continue;
        const entry = rowOf(String(row.id), () => storedOf(row));
        if (entry.stored && !matches(entry.stored.record, query)) continue;
        if (found.length === limit) return pageOf(found, String(found.at(-1)?.seq));
        found.push({ ...entry, seq: row.seq });
      }
      if (rows.length < ROWS_AT_ONCE) return pageOf(found);
      after = Number(rows.at(-1)?.seq);
      await new Promise<void>((resolve) => soon(resolve));
      if (!db.isOpen) throw new ClosedError();
    }
  };

/** The condition that leaves the fewest rows to compare, and its values. */
function fewest({ tenant, resource, scope, states }: ListQuery): [string, ...SQLInputValue[]] {
  if (resource !== undefined) return ["tenant = ? AND resource = ?", tenant, resource];
  if (scope !== undefined) return ["tenant = ? AND scope = ?", tenant, scope];
  // An open row has no `settled_at`, so the index has these in the order of creation.
  const open = `stage = ${STAGE.open} AND tenant = ? AND settled_at IS NULL`;
  return states?.every((tag) => isOpen({ tag } as State)) ? [open, tenant] : ["true"];
}

export function storedOf(row: Record<string, SQLOutputValue>): Stored {
  const { text, tenant, id, version, lease } = row;
  const leaseUntil = lease === null ? undefined : Number(lease);
  const record = unpackRecord(String(text), String(tenant), String(id));
  return { record, version: Number(version), leaseUntil };
}
