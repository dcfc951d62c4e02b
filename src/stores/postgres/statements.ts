/**
 * The statements of one ledger, made once its tables are found.
 *
 * @module
 */

import { hash } from "node:crypto";
import type { Statement } from "./client.ts";
import { CLOCK, type Tables } from "./schema.ts";
import { type SwapStatements, swapSql, THIS_TRANSACTION } from "./swap.ts";

export interface Statements {
  readonly swap: SwapStatements;
  /** One move in a caller's transaction, whose id is the last value. */
  readonly join: Statement;
  readonly read: Statement;
  readonly readLane: Statement;
  readonly own: Statement;
  /** The same in a caller's transaction, whose id is the last value. */
  readonly joinOwn: Statement;
  readonly ownerOf: Statement;
  readonly register: Statement;
}

export interface StatementOptions {
  readonly tables: Tables;
  /** Where changes are announced. */
  readonly channel: string | undefined;
  readonly prepare: boolean;
}

export function statementsOf({ tables, channel, prepare }: StatementOptions): Statements {
  const { operations, lanes, effects, watches } = tables;
  // Named by its text: two ledgers, or two versions of this file, may share a connection.
  const statement = (text: string): Statement =>
    prepare ? { text, name: `holdfire_${hash("sha256", text).slice(0, 16)}` } : { text };
  const swap = (whole: boolean, joins: boolean): Statement =>
    statement(swapSql(tables, { whole, joins, channel }));
  // The update changes nothing, and so returns who has it, also when that was decided just now.
  const own = (guard: string): Statement =>
    statement(`INSERT INTO ${effects} AS e (key, operation, id)
SELECT $1::uuid, $2::uuid, $3::text ${guard}
ON CONFLICT (key) DO UPDATE SET id = e.id RETURNING e.id`);
  return {
    swap: { plain: swap(false, false), whole: swap(true, false) },
    join: swap(true, true),
    read: statement(`SELECT c.now::text, o.version::text, o.lease::text, o.record
FROM (SELECT ${CLOCK} AS now) c LEFT JOIN ${operations} o ON o.key = $1::uuid`),
    readLane: statement(`SELECT c.now::text, l.version::text, l.lane
FROM (SELECT ${CLOCK} AS now) c LEFT JOIN ${lanes} l ON l.key = $1::uuid`),
    own: own(""),
    joinOwn: own(`WHERE ${THIS_TRANSACTION} = $4::text`),
    ownerOf: statement(`SELECT id FROM ${effects} WHERE key = $1::uuid`),
    register: statement(`WITH clock AS MATERIALIZED (SELECT ${CLOCK} AS now),
old AS (
  DELETE FROM ${watches} WHERE key IN (
    SELECT w.key FROM ${watches} w, clock WHERE w.until < clock.now AND w.key <> $1::uuid
    FOR UPDATE OF w SKIP LOCKED
  )
)
INSERT INTO ${watches} (key, until) SELECT $1::uuid, clock.now + $2::int8 FROM clock
ON CONFLICT (key) DO UPDATE SET until = excluded.until`),
  };
}
