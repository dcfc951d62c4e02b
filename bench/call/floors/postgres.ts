/**
 * The least that a ledger on Postgres does, written by hand: an INSERT and an UPDATE, each for all
 * callers that wait, one statement of a kind under way at a time.
 *
 * @module
 */

import pg from "pg";
import type { OpenGuard } from "../guard.ts";
import { receiptIn, rowOf } from "./row.ts";

type Send = (id: string, record: string) => Promise<boolean>;

interface Waiting {
  readonly id: string;
  readonly record: string;
  readonly done: (isWritten: boolean) => void;
  readonly failed: (error: unknown) => void;
}

function batchOf(pool: pg.Pool, name: string, text: string): Send {
  let queue: Waiting[] = [];
  let isUnderWay = false;
  const start = (): void => {
    if (isUnderWay || queue.length === 0) return;
    isUnderWay = true;
    setImmediate(() => void flush());
  };
  async function flush(): Promise<void> {
    const batch = queue;
    queue = [];
    try {
      const values = [batch.map(({ id }) => id), batch.map(({ record }) => record)];
      const { rows } = await pool.query<{ id: string }>({ name, text, values });
      const written = new Set(rows.map(({ id }) => id));
      for (const { id, done } of batch) done(written.has(id));
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
    isUnderWay = false;
    start();
  }
  return (id, record) =>
    new Promise((done, failed) => {
      queue.push({ id, record, done, failed });
      start();
    });
}

export const open: OpenGuard = async (effect, { postgresUrl, name }) => {
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 10 });
  const table = `"${name}".floor`;
  await pool.query(`CREATE SCHEMA IF NOT EXISTS "${name}"`);
  await pool.query(`CREATE TABLE IF NOT EXISTS ${table}
    (id text PRIMARY KEY, state int2 NOT NULL, record text NOT NULL)`);
  const insert = batchOf(
    pool,
    "floor_insert",
    `INSERT INTO ${table} (id, state, record)
     SELECT id, 0, record FROM unnest($1::text[], $2::text[]) AS t(id, record)
     ON CONFLICT (id) DO NOTHING RETURNING id`,
  );
  const update = batchOf(
    pool,
    "floor_update",
    `UPDATE ${table} f SET state = 1, record = t.record
     FROM unnest($1::text[], $2::text[]) AS t(id, record)
     WHERE f.id = t.id AND f.state = 0 RETURNING f.id`,
  );
  const read = `SELECT record FROM ${table} WHERE id = $1 AND state = 1`;
  return {
    async call(order) {
      const row = rowOf(order);
      if (!(await insert(row.key, row.claimed))) {
        const query = { name: "floor_read", text: read, values: [row.key] };
        const { rows } = await pool.query<{ record: string }>(query);
        return receiptIn(rows[0]?.record ?? "");
      }
      const receipt = await effect(order);
      await update(row.key, row.settled(receipt));
      return receipt;
    },
    close: () => pool.end(),
  };
};
