/**
 * holdfire as a user has it: a tool, a scope, and one of the four stores with its defaults.
 *
 * @module
 */

import { join } from "node:path";
import type { Store } from "../../src/store.ts";
import { importFrom } from "./checkout.ts";
import { type OpenGuard, type Order, type Place, requestOf } from "./guard.ts";

export type StoreName = "memory" | "sqlite" | "redis" | "postgres";

interface OpenStore {
  readonly store: Store;
  /** Ends the client, which is the user's. */
  end(): Promise<void>;
}

type Holdfires = typeof import("../../src/index.ts");

export const openHoldfire =
  (checkout: string, storeName: StoreName): OpenGuard =>
  async (effect, place) => {
    const { createHoldfire } = (await importFrom(checkout, ".")) as Holdfires;
    const { store, end } = await openStore[storeName](checkout, place);
    const hf = createHoldfire({ store });
    const tool = hf.tool({
      name: "place_order",
      kind: "write",
      run: (order: Order) => effect(order),
    });
    return {
      call: (order) => hf.scope(requestOf(order), () => tool(order)),
      async close() {
        await hf.close();
        await end();
      },
    };
  };

/** Clients are loaded here, so that no case pays for the client of another. */
const openStore: Record<StoreName, (checkout: string, place: Place) => Promise<OpenStore>> = {
  async memory(checkout) {
    const { memoryStore } = (await importFrom(checkout, "./memory")) as {
      memoryStore: (options: object) => Store;
    };
    return { store: memoryStore({ forgets: "accepted" }), async end() {} };
  },

  async sqlite(checkout, { folder, name }) {
    const { sqliteStore } = (await importFrom(checkout, "./sqlite")) as {
      sqliteStore: (options: object) => Store;
    };
    return { store: sqliteStore({ path: join(folder, `${name}.db`) }), async end() {} };
  },

  async redis(checkout, { redisUrl, name }) {
    const { redisStore } = (await importFrom(checkout, "./redis")) as {
      redisStore: (options: object) => Store;
    };
    const { Redis } = await import("ioredis");
    const client = new Redis(redisUrl, { maxRetriesPerRequest: 1 });
    const store = redisStore({ client, prefix: name, forgets: "accepted" });
    return { store, end: async () => void (await client.quit()) };
  },

  async postgres(checkout, { postgresUrl, name }) {
    const { postgresStore } = (await importFrom(checkout, "./postgres")) as {
      postgresStore: (options: object) => Store;
    };
    const { default: pg } = await import("pg");
    const pool = new pg.Pool({ connectionString: postgresUrl, max: 10 });
    return { store: postgresStore({ pool, schema: name, migrate: true }), end: () => pool.end() };
  },
};
