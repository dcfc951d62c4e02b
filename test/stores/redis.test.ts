import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisClientLike, redisStore } from "../../src/stores/redis.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { findRedis } from "../servers/redis.ts";

const server = await findRedis();
const run = `hf-test-${randomBytes(6).toString("hex")}`;
let ledgers = 0;
const newPrefix = (): string => {
  ledgers += 1;
  return `${run}-${ledgers}`;
};

describe.runIf(server)("the Redis store", () => {
  const url = server?.url ?? "";
  const ioredis = new Redis(url, { lazyConnect: true });
  const nodeRedis = createClient({ url });
  nodeRedis.on("error", () => {});

  beforeAll(async () => {
    await ioredis.connect();
    await nodeRedis.connect();
  });

  afterAll(async () => {
    for await (const keys of ioredis.scanStream({ match: `*${run}-*`, count: 1_000 })) {
      if (keys.length > 0) await ioredis.del(keys);
    }
    await ioredis.quit();
    await nodeRedis.close();
    await server?.stop();
  });

  const clients: readonly (readonly [string, RedisClientLike])[] = [
    ["ioredis", ioredis],
    ["node-redis", nodeRedis],
  ];
  for (const [name, client] of clients) {
    let prefix = "";
    storeContract(name, {
      open: () => {
        prefix = newPrefix();
        return redisStore({ client, prefix });
      },
      reopen: () => redisStore({ client, prefix }),
      clock: "server",
    });
  }
});
