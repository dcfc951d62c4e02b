/**
 * The ledgers that the console is tried on, each named so that another process can open it.
 *
 * @module
 */

import { Redis } from "ioredis";
import pg from "pg";
import type { Store } from "../../../src/ledger/store.ts";
import { postgresStore } from "../../../src/stores/postgres/index.ts";
import { redisStore } from "../../../src/stores/redis/index.ts";
import { sqliteStore } from "../../../src/stores/sqlite/index.ts";

export type StoreKind = "sqlite" | "redis" | "postgres";

/** `location` is a path or an address, `namespace` a prefix or a schema. */
export async function openStore(
  kind: StoreKind,
  location: string,
  namespace: string,
): Promise<{ readonly store: Store; readonly end: () => Promise<unknown> }> {
  if (kind === "sqlite") return { store: sqliteStore({ path: location }), end: async () => {} };
  if (kind === "redis") {
    const client = new Redis(location);
    return {
      store: redisStore({ client, prefix: namespace, forgets: "accepted" }),
      end: () => client.quit(),
    };
  }
  const pool = new pg.Pool({ connectionString: location, max: 4 });
  const store = postgresStore({ pool, schema: namespace });
  await store.migrate();
  return { store, end: () => pool.end() };
}
