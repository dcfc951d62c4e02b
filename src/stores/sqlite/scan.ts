/**
 * Looks through operations in the order of creation, so many rows and no more: the caller goes on
 * in another turn of the event loop.
 *
 * @module
 */

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { matches } from "../../ledger/query.ts";
import { isOpen, type StateTag } from "../../ledger/record.ts";
import type { ListQuery } from "../../ledger/store.ts";
import { hashOf } from "./hash.ts";
import { COLUMNS, lyingOf } from "./operations.ts";
import { type ReadRow, recordOf } from "./row.ts";
import type { Tables } from "./tables.ts";

export interface Scanned {
  readonly rows: readonly ReadRow[];
  /** The last row looked at; `undefined` when there is no more. */
  readonly last: number | undefined;
}

export type Scan = (query: ListQuery, after: number, wanted: number) => Scanned;

/** How many rows are looked at in one go: a millisecond or two. */
const ROWS_A_TURN = 512;

const SELECT = `SELECT ${COLUMNS} FROM operation`;
const ORDER = `ORDER BY seq LIMIT ${ROWS_A_TURN}`;

export function scanOf(db: DatabaseSync, { tenants, operations }: Tables): Scan {
  const all = db.prepare(`${SELECT} WHERE seq > ? ${ORDER}`);
  // Of an open row the index holds no time, so its entries are in the order of creation.
  const open = db.prepare(
    `${SELECT} INDEXED BY operation_stage WHERE tenant = ? AND stage = 0 AND settled_at IS NULL AND seq > ? ${ORDER}`,
  );
  const ofResource = db.prepare(
    `${SELECT} INDEXED BY operation_resource WHERE resource = ? AND seq > ? ${ORDER}`,
  );

  function choose(
    query: ListQuery,
    tenant: number,
    after: number,
  ): [StatementSync, SQLInputValue[]] {
    if (query.resource !== undefined) {
      return [ofResource, [hashOf(query.tenant, query.resource), after]];
    }
    return query.states?.every(isOpenTag) ? [open, [tenant, after]] : [all, [after]];
  }

  return (query, after, wanted) => {
    const tenant = tenants.find(query.tenant);
    if (tenant === undefined) return { rows: [], last: undefined };
    const [statement, values] = choose(query, tenant, after);
    const rows: ReadRow[] = [];
    let seen = 0;
    let last = after;
    for (const found of statement.all(...values)) {
      const lying = lyingOf(found);
      seen += 1;
      last = lying.seq;
      if (lying.tenant !== tenant) continue;
      const { id, text } = lying;
      if (!matches(recordOf(query.tenant, { id, text, payload: undefined }), query)) continue;
      rows.push(operations.whole(lying));
      if (rows.length === wanted) return { rows, last };
    }
    return { rows, last: seen === ROWS_A_TURN ? last : undefined };
  };
}

const isOpenTag = (tag: StateTag): boolean => isOpen({ tag } as Parameters<typeof isOpen>[0]);
