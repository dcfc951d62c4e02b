import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { redisStore } from "../../src/stores/redis/index.ts";
import { canStartRedis, startRedis } from "../servers/redis.ts";

const PROCESSES = 4;
const KEYS = 200;
const CLAIMER = fileURLToPath(new URL("redis-claimer.ts", import.meta.url));
const possible = await canStartRedis();

describe.runIf(possible)("several processes on one Redis", () => {
  test("claim each key once, and all see the same list", async () => {
    const server = await startRedis();
    const args = [CLAIMER, server.url, "hf-race", String(KEYS)];
    const outputs = await Promise.all(
      Array.from({ length: PROCESSES }, () => promisify(execFile)(process.execPath, args)),
    );
    const won = outputs.flatMap(({ stdout }) => JSON.parse(stdout) as string[]);
    expect(won).toHaveLength(KEYS);
    expect(new Set(won).size).toBe(KEYS);
    const client = new Redis(server.url);
    const store = redisStore({ client, prefix: "hf-race" });
    const { items } = await store.list({ tenant: "acme", limit: 1_000 });
    expect(new Set(items.map(({ record }) => record.id))).toEqual(new Set(won));
    await store.close();
    await client.quit();
    await server.stop();
  });
});
