/**
 * Ledgers that lose data, each in the way its store does: all of it, or what came last.
 *
 * @module
 */

import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { findGround } from "../processes/ground.ts";
import type { Place } from "../processes/place.ts";
import { canStartRedis, startRedis } from "../servers/redis.ts";

export interface FallibleLedger {
  /** Where it is now. */
  place(): Place;
  /** This is what it will come back to. */
  remember(): Promise<void>;
  lose(): Promise<void>;
  stop(): Promise<void>;
}

export interface Loss {
  readonly says: string;
  /** Whether what was remembered is still there afterwards. */
  readonly keepsOlder: boolean;
  /** Whether it can happen to a process that has the ledger open and keeps its address. */
  readonly hitsTheLiving: boolean;
  /** `undefined` where there is no such server, which has then been said. */
  start(): Promise<FallibleLedger | undefined>;
}

export const LOSSES: readonly Loss[] = [
  {
    says: "a SQLite file is deleted",
    keepsOlder: false,
    hitsTheLiving: false,
    start: () => deletedFile(),
  },
  {
    says: "an older copy of a SQLite file is put back",
    keepsOlder: true,
    hitsTheLiving: false,
    start: () => olderFile(),
  },
  {
    says: "a Redis restarts empty",
    keepsOlder: false,
    hitsTheLiving: true,
    start: () => emptyRedis(),
  },
  {
    says: "a Redis restarts from an older dump",
    keepsOlder: true,
    hitsTheLiving: true,
    start: () => olderRedis(),
  },
  {
    says: "a Redis replica that lagged is promoted",
    keepsOlder: true,
    hitsTheLiving: false,
    start: () => promotedRedis(),
  },
  {
    says: "a Postgres is restored from a backup",
    keepsOlder: true,
    hitsTheLiving: true,
    start: () => olderPostgres(),
  },
];

async function deletedFile(): Promise<FallibleLedger> {
  const folder = await mkdtemp(join(tmpdir(), "holdfire-loss-"));
  const path = join(folder, "ledger", "ledger.db");
  return {
    place: () => ({ store: "sqlite", path }),
    remember: async () => {},
    lose: () => rm(dirname(path), { recursive: true }),
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

async function olderFile(): Promise<FallibleLedger> {
  const file = await deletedFile();
  const place = file.place();
  const live = place.store === "sqlite" ? dirname(place.path) : "";
  const copy = `${live}-copy`;
  return {
    ...file,
    remember: () => cp(live, copy, { recursive: true }),
    async lose() {
      await rm(live, { recursive: true });
      await cp(copy, live, { recursive: true });
    },
  };
}

async function emptyRedis(): Promise<FallibleLedger | undefined> {
  if (!(await canStartRedis())) return undefined;
  const server = await startRedis();
  return {
    place: () => redisAt(server.url),
    remember: async () => {},
    lose: () => server.restart({ empty: true }),
    stop: () => server.stop(),
  };
}

async function olderRedis(): Promise<FallibleLedger | undefined> {
  if (!(await canStartRedis())) return undefined;
  const server = await startRedis();
  return {
    place: () => redisAt(server.url),
    async remember() {
      const client = new Redis(server.url);
      await client.save();
      client.disconnect();
    },
    lose: () => server.restart({ empty: false }),
    stop: () => server.stop(),
  };
}

async function promotedRedis(): Promise<FallibleLedger | undefined> {
  if (!(await canStartRedis())) return undefined;
  const primary = await startRedis(["--repl-diskless-sync-delay", "0"]);
  const replica = await startRedis(["--replicaof", "127.0.0.1", String(primary.port)]);
  let { url } = primary;
  return {
    place: () => redisAt(url),
    async remember() {
      const [source, copy] = [new Redis(primary.url), new Redis(replica.url)];
      await source.set("remembered", "yes");
      while ((await copy.get("remembered")) !== "yes") await source.ping();
      // From here on it hears of nothing, which nobody notices.
      await copy.replicaof("NO", "ONE");
      source.disconnect();
      copy.disconnect();
    },
    async lose() {
      await primary.stop();
      ({ url } = replica);
    },
    async stop() {
      await primary.stop();
      await replica.stop();
    },
  };
}

const redisAt = (url: string): Place => ({
  store: "redis",
  url,
  prefix: "hf",
  client: "ioredis",
  // A server that can lose data says so; the user has accepted it.
  forgets: "accepted",
});

async function olderPostgres(): Promise<FallibleLedger | undefined> {
  const ground = await findGround("postgres");
  const place = await ground?.ledger(0);
  if (!ground || place?.store !== "postgres") return undefined;
  const { schema } = place;
  const pool = new pg.Pool({ connectionString: place.url, max: 1 });
  const tables = ["operations", "lanes", "effects"].map((name) => `holdfire_${name}`);
  const sequence = `"${schema}"."holdfire_sequence"`;
  let counted = "";
  return {
    place: () => place,
    async remember() {
      counted = String((await pool.query(`SELECT last_value FROM ${sequence}`)).rows[0].last_value);
      for (const table of tables) {
        await pool.query(
          `CREATE TABLE "${schema}"."${table}_kept" AS TABLE "${schema}"."${table}"`,
        );
      }
    },
    async lose() {
      for (const table of tables) {
        const columns = await columnsOf(pool, schema, table);
        await pool.query(`TRUNCATE "${schema}"."${table}"`);
        await pool.query(
          `INSERT INTO "${schema}"."${table}" (${columns}) SELECT ${columns} FROM "${schema}"."${table}_kept"`,
        );
      }
      await pool.query("SELECT setval($1, $2)", [sequence, counted]);
    },
    async stop() {
      await pool.end();
      await ground.stop();
    },
  };
}

/** Those that are written; the others follow from them. */
async function columnsOf(pool: pg.Pool, schema: string, table: string): Promise<string> {
  const { rows } = await pool.query<{ readonly column_name: string }>(
    `SELECT column_name FROM information_schema.columns
     WHERE table_schema = $1 AND table_name = $2 AND is_generated = 'NEVER'`,
    [schema, table],
  );
  return rows.map(({ column_name }) => `"${column_name}"`).join(", ");
}
