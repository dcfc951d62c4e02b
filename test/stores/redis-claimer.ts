/**
 * One of several processes that claim the same keys at the same time. Prints what it won.
 *
 * Run: `node redis-claimer.ts URL PREFIX COUNT`.
 *
 * @module
 */

import { Redis } from "ioredis";
import { redisStore } from "../../src/stores/redis/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create } from "../../src/testing/store-contract/subject.ts";

const [url = "", prefix = "", count = ""] = process.argv.slice(2);
const client = new Redis(url);
const store = redisStore({ client, prefix });
await store.open();
const ids = Array.from({ length: Number(count) }, (_, index) => `operation-${index}`);
const swaps = await Promise.all(
  ids.map((id) =>
    store.swap({
      ...create(recordOf({ id, state: { tag: "claimed", holder: String(process.pid) } })),
      lease: 60_000,
    }),
  ),
);
process.stdout.write(JSON.stringify(ids.filter((_, index) => swaps[index]?.ok)));
await store.close();
await client.quit();
