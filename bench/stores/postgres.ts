/**
 * What the Postgres store costs beside the statements it must make: claim and settle through the
 * store, against an INSERT and an UPDATE of the same bytes, batched by `unnest` or one by one.
 *
 * Run: `node bench/stores/postgres.ts [--quick] [--rounds=9] [--ms=600]`. Exits with 1 when a goal is missed.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import pg from "pg";
import postgres from "postgres";
import { packRecord } from "../../src/ledger/codec/record-text.ts";
import type { OperationRecord } from "../../src/ledger/record.ts";
import type { Store } from "../../src/ledger/store.ts";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { findPostgres } from "../../test/servers/postgres.ts";
import { drive, inTurns, judge, type Measured, median, ratios, spread } from "./measure.ts";

const args = process.argv.slice(2);
const numberOf = (name: string, standard: number): number =>
  Number(args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? standard);
const rounds = numberOf("rounds", args.includes("--quick") ? 3 : 9);
const milliseconds = numberOf("ms", 600);
const WARM_UP_MS = 100;
const SEEDED = 5_000;
const LEASE_MS = 25_000;
const PAYLOAD = { form: "json", text: JSON.stringify("r".repeat(254)) } as const;

const server = await findPostgres();
if (!server) process.exit(0);
const schema = `holdfire_bench_${randomUUID().slice(0, 8)}`;
const pool = new pg.Pool({ connectionString: server.url, max: 10 });
const sql = postgres(server.url, { max: 10, onnotice: () => {} });

const claimed = (id: string): OperationRecord =>
  recordOf({ id, state: { tag: "claimed", holder: "2c5ea4c0-4067-11e9-8bad-9b1deb4d3b7d" } });

const settled = (id: string): OperationRecord =>
  recordOf({
    id,
    intent: undefined,
    state: { tag: "committed", via: "reply", attempt: 1, payload: PAYLOAD },
  });

/** As random as the ids of operations are. */
const newId = (): string => randomUUID().replaceAll("-", "") + randomUUID().replaceAll("-", "");
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const through = (store: Store) => async (): Promise<void> => {
  const id = newId();
  const first = { tenant: "acme", id, expect: 0, record: claimed(id), lease: LEASE_MS };
  const claim = await store.swap(first);
  if (!claim.ok) throw new Error("A new id was claimed already.");
  await turn();
  const last = { ...first, expect: claim.version, record: settled(id), lease: "none" } as const;
  if (!(await store.swap(last)).ok) throw new Error("A claim was lost.");
};

const FLOOR = `"${schema}".floor`;
const INSERT = `INSERT INTO ${FLOOR} (id, state, record)
SELECT id, 0, record FROM unnest($1::text[], $2::text[]) AS t(id, record)
ON CONFLICT (id) DO NOTHING RETURNING id`;
const UPDATE = `UPDATE ${FLOOR} f SET state = 1, record = t.record
FROM unnest($1::text[], $2::text[]) AS t(id, record)
WHERE f.id = t.id AND f.state = 0 RETURNING f.id`;

/** The least that batches: one statement under way, the rest waits for the next. */
function batchOf(name: string, text: string): (id: string, record: string) => Promise<boolean> {
  let queue: {
    id: string;
    record: string;
    done: (ok: boolean) => void;
    failed: (error: unknown) => void;
  }[] = [];
  let isArmed = false;
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
    isArmed = false;
    arm();
  }
  function arm(): void {
    if (isArmed || queue.length === 0) return;
    isArmed = true;
    setImmediate(() => void flush());
  }
  return (id, record) =>
    new Promise((done, failed) => {
      queue.push({ id, record, done, failed });
      arm();
    });
}

const insertBatch = batchOf("floor_insert", INSERT);
const updateBatch = batchOf("floor_update", UPDATE);

async function batched(): Promise<void> {
  const id = newId();
  if (!(await insertBatch(id, packRecord(claimed(id))))) throw new Error("not inserted");
  await turn();
  if (!(await updateBatch(id, packRecord(settled(id))))) throw new Error("not updated");
}

async function perCall(): Promise<void> {
  const id = newId();
  const first = `INSERT INTO ${FLOOR} (id, state, record) VALUES ($1, 0, $2) ON CONFLICT (id) DO NOTHING`;
  await pool.query({ name: "call_insert", text: first, values: [id, packRecord(claimed(id))] });
  await turn();
  const second = `UPDATE ${FLOOR} SET state = 1, record = $2 WHERE id = $1 AND state = 0`;
  await pool.query({ name: "call_update", text: second, values: [id, packRecord(settled(id))] });
}

const ours = postgresStore({ pool, schema, migrate: true });
const oursOnPostgresJs = postgresStore({ pool: sql, schema });
await ours.open();
await pool.query(
  `CREATE TABLE ${FLOOR} (id text PRIMARY KEY, state int2 NOT NULL, record text NOT NULL)`,
);

// Seeded and analysed, so that the floor is not planned as for an empty table.
await Promise.all(
  Array.from({ length: 100 }, async () => {
    for (let each = 0; each < SEEDED / 100; each += 1) {
      await through(ours)();
      await batched();
    }
  }),
);
await pool.query(`ANALYZE ${FLOOR}; ANALYZE "${schema}".holdfire_operations`);

const measured = (callers: number, call: () => Promise<void>) => async (): Promise<Measured> => {
  await drive(callers, WARM_UP_MS, call);
  return drive(callers, milliseconds, call);
};

try {
  const results = await inTurns(rounds, {
    "ours, pg, c=100": measured(100, through(ours)),
    "ours, postgres.js, c=100": measured(100, through(oursOnPostgresJs)),
    "batched floor, c=100": measured(100, batched),
    "per call, c=100": measured(100, perCall),
    "ours, pg, c=1": measured(1, through(ours)),
    "batched floor, c=1": measured(1, batched),
    "per call, c=1": measured(1, perCall),
  });
  console.log(
    `claim and settle, 256 B, ${rounds} rounds of ${milliseconds} ms: median (least..most)`,
  );
  for (const [name, rows] of Object.entries(results)) {
    const of = (field: keyof Measured, digits = 0) =>
      spread(
        rows.map((row) => row[field]),
        digits,
      );
    console.log(
      `${name.padEnd(26)} ${of("perSecond")} ops/s, p50 ${of("p50Us")} us, p99 ${median(rows.map(({ p99Us }) => p99Us)).toFixed(0)} us, loop p99 ${of("loopP99Ms", 1)} ms`,
    );
  }
  const batchedFloor = results["batched floor, c=100"];
  const isMet = [
    judge({
      what: "c=100, of the batched floor",
      values: ratios(results["ours, pg, c=100"], batchedFloor, "perSecond"),
      atLeast: 0.75,
    }),
    judge({
      what: "c=1, of the batched floor",
      values: ratios(results["ours, pg, c=1"], results["batched floor, c=1"], "perSecond"),
      atLeast: 0.75,
    }),
    judge({
      what: "c=100, of one statement per call",
      values: ratios(results["ours, pg, c=100"], results["per call, c=100"], "perSecond"),
      atLeast: 2,
    }),
    judge({
      what: "c=1, of one statement per call",
      values: ratios(results["ours, pg, c=1"], results["per call, c=1"], "perSecond"),
      atLeast: 0.7,
    }),
  ].every(Boolean);
  process.exitCode = isMet ? 0 : 1;
} finally {
  await ours.close();
  await oursOnPostgresJs.close();
  await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
  await sql.end();
  await pool.end();
  await server.stop();
}
