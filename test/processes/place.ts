/**
 * Where a ledger is, as one process tells another, and how it is opened there.
 *
 * @module
 */

import type { Store } from "../../src/ledger/store.ts";

export type Place =
  | { readonly store: "sqlite"; readonly path: string; readonly durability?: "full" | "process" }
  | {
      readonly store: "redis";
      readonly url: string;
      readonly prefix: string;
      readonly client: "ioredis" | "node-redis";
      /** Set where the server keeps nothing on disk. */
      readonly forgets?: "accepted" | undefined;
    }
  | {
      readonly store: "postgres";
      readonly url: string;
      readonly schema: string;
      readonly client: "pg" | "postgres.js";
    };

export type StoreName = Place["store"];

export const STORES: readonly StoreName[] = ["sqlite", "redis", "postgres"];

export interface OpenPlace {
  readonly store: Store;
  /** Ends the client, which the store leaves to its user. */
  end(): Promise<void>;
}

/** A server that goes away is the store's business; without a listener it would end the process. */
const ignore = (): void => {};

/** Loads no more than this store needs: most of a short process is its imports. */
export async function openPlace(place: Place): Promise<OpenPlace> {
  switch (place.store) {
    case "sqlite": {
      const { sqliteStore } = await import("../../src/stores/sqlite/index.ts");
      const { path, durability } = place;
      return { store: sqliteStore({ path, durability }), end: async () => {} };
    }
    case "redis":
      return openRedis(place);
    case "postgres":
      return openPostgres(place);
  }
}

async function openRedis(place: Extract<Place, { store: "redis" }>): Promise<OpenPlace> {
  const { redisStore } = await import("../../src/stores/redis/index.ts");
  const { url, prefix, forgets } = place;
  if (place.client === "ioredis") {
    const { Redis } = await import("ioredis");
    const client = new Redis(url);
    client.on("error", ignore);
    return {
      store: redisStore({ client, prefix, forgets }),
      end: async () => client.disconnect(),
    };
  }
  const { createClient } = await import("redis");
  const client = createClient({ url });
  client.on("error", ignore);
  await client.connect();
  return { store: redisStore({ client, prefix, forgets }), end: async () => client.destroy() };
}

async function openPostgres(place: Extract<Place, { store: "postgres" }>): Promise<OpenPlace> {
  const { postgresStore } = await import("../../src/stores/postgres/index.ts");
  const { url, schema } = place;
  if (place.client === "pg") {
    const { default: pg } = await import("pg");
    const pool = new pg.Pool({ connectionString: url, max: 4 });
    pool.on("error", ignore);
    return { store: postgresStore({ pool, schema }), end: () => pool.end() };
  }
  const { default: postgres } = await import("postgres");
  // As `docs/stores.md` advises: else it waits up to 20 s until it looks again whether a server is back.
  const sql = postgres(url, { max: 4, onnotice: ignore, backoff: () => 0.5 });
  return { store: postgresStore({ pool: sql, schema }), end: () => sql.end({ timeout: 1 }) };
}
