/**
 * What a durable store stands on in a test that crashes processes: a folder, or a server of its own.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { findPostgres } from "../servers/postgres.ts";
import { canStartRedis, startRedis } from "../servers/redis.ts";
import type { Place, StoreName } from "./place.ts";

export interface Ground {
  /** A place for a new ledger; `index` picks the client library, where there are two. */
  ledger(index: number): Promise<Place>;
  stop(): Promise<void>;
}

/** Every acknowledged write is on disk: nothing less may be trusted with a write nobody can read. */
export const DURABLE_REDIS: readonly string[] = ["--appendonly", "yes", "--appendfsync", "always"];

/** `undefined` where there is no such server, which has then been said. */
export function findGround(store: StoreName): Promise<Ground | undefined> {
  switch (store) {
    case "sqlite":
      return onDisk();
    case "redis":
      return onRedis();
    case "postgres":
      return onPostgres();
  }
}

async function onDisk(): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), "holdfire-ground-"));
  return {
    ledger: async () => ({ store: "sqlite", path: join(folder, randomUUID(), "ledger.db") }),
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

async function onRedis(): Promise<Ground | undefined> {
  if (!(await canStartRedis())) return undefined;
  const { url, stop } = await startRedis(DURABLE_REDIS);
  return {
    ledger: async (index) => ({
      store: "redis",
      url,
      prefix: `hf:${randomUUID().slice(0, 8)}`,
      client: index % 2 === 0 ? "ioredis" : "node-redis",
    }),
    stop: () => stop(),
  };
}

async function onPostgres(): Promise<Ground | undefined> {
  const server = await findPostgres();
  if (!server) return undefined;
  const pool = new pg.Pool({ connectionString: server.url, max: 2 });
  const schemas: string[] = [];
  return {
    async ledger(index) {
      const schema = `holdfire_ground_${randomUUID().slice(0, 8)}`;
      const store = postgresStore({ pool, schema });
      await store.migrate();
      await store.close();
      schemas.push(schema);
      const client = index % 2 === 0 ? "pg" : "postgres.js";
      return { store: "postgres", url: server.url, schema, client };
    },
    async stop() {
      for (const schema of schemas) await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
      await pool.end();
      await server.stop();
    },
  };
}
