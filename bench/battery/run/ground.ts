/**
 * What the stacks stand on: a folder, a Redis that keeps what it is told, a schema in Postgres, a Restate server, and the
 * process of the services. Whatever is missing is said, and the stacks that need it are void.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { postgresStore } from "../../../src/stores/postgres/index.ts";
import { findPostgres } from "../../../test/servers/postgres.ts";
import { canStartRedis, startRedis } from "../../../test/servers/redis.ts";
import { startRestate } from "../../../test/servers/restate.ts";
import type { Place, Stack } from "../stack.ts";
import { askChild, type Remote } from "./remote.ts";
import { startProcess } from "./workers.ts";

export interface Ground extends Omit<Place, "name" | "ledger"> {
  readonly services: Remote;
  /** What is missing of what a stack needs. */
  lacks(stack: Stack): string | undefined;
  end(): Promise<void>;
}

/** It answers only once what it was told is on disk, and forgets nothing for want of memory. */
const REDIS = [
  "--appendonly",
  "yes",
  "--appendfsync",
  "always",
  "--maxmemory-policy",
  "noeviction",
];

export async function openGround(needs: ReadonlySet<string>): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), "holdfire-battery-"));
  const schema = `battery_${randomBytes(4).toString("hex")}`;
  const redis = needs.has("redis") && (await canStartRedis()) ? await startRedis(REDIS) : undefined;
  const postgres = needs.has("postgres") ? await findPostgres() : undefined;
  if (postgres) await prepare(postgres.url, schema);
  const restate = needs.has("restate")
    ? await startRestate(folder).catch(() => undefined)
    : undefined;
  const child = startProcess("service-process.ts", [], folder);
  const has = { redis, postgres, restate };
  return {
    folder,
    schema,
    redisUrl: redis?.url,
    postgresUrl: postgres?.url,
    restate,
    services: askChild(child),
    lacks(stack) {
      const missing = stack.needs.find((name) => has[name] === undefined);
      return missing && `there is no ${missing} here`;
    },
    async end() {
      child.kill("SIGKILL");
      await restate?.end();
      await redis?.stop();
      if (postgres) {
        const both = `DROP SCHEMA IF EXISTS "${schema}" CASCADE; DROP SCHEMA IF EXISTS "${schema}_dbos" CASCADE`;
        await query(postgres.url, both);
        await postgres.stop();
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The tables of holdfire's ledger, made once, before any process asks for them. */
async function prepare(url: string, schema: string): Promise<void> {
  await query(url, `CREATE SCHEMA "${schema}"`);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  await postgresStore({ pool, schema }).migrate();
  await pool.end();
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  await client.query(text);
  await client.end();
}
