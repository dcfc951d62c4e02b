/**
 * Removes what the cases left in Redis and Postgres.
 *
 * @module
 */

import { Redis } from "ioredis";
import pg from "pg";

export async function cleanRedis(url: string, prefix: string): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  // Where there is no server, there is nothing to remove.
  const isThere = await client.connect().then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  for await (const keys of client.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    if (keys.length > 0) await client.unlink(keys);
  }
  await client.quit();
}

export async function cleanPostgres(url: string, schemas: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  const isThere = await client.connect().then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  for (const schema of schemas) await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await client.end();
}
