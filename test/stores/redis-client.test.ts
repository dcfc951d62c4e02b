/** What kind of server a client is for, as its library makes it: none of them is connected here. */
import { Cluster, Redis } from "ioredis";
import { createClient, createClientPool, createCluster, createSentinel } from "redis";
import { describe, expect, test } from "vitest";
import { connect, type RedisClientLike } from "../../src/stores/redis/client.ts";

const NODE = { host: "127.0.0.1", port: 1 };
const url = "redis://127.0.0.1:1";

const clients: readonly (readonly [
  string,
  () => RedisClientLike,
  "single" | "cluster",
  boolean,
])[] = [
  ["ioredis", () => new Redis(url, { lazyConnect: true }), "single", false],
  [
    "ioredis with sentinels",
    () => new Redis({ sentinels: [NODE], name: "main", lazyConnect: true }),
    "single",
    true,
  ],
  ["an ioredis cluster", () => new Cluster([NODE], { lazyConnect: true }), "cluster", true],
  ["node-redis", () => createClient({ url }), "single", false],
  ["a node-redis pool", () => createClientPool({ url }), "single", false],
  ["a node-redis cluster", () => createCluster({ rootNodes: [{ url }] }), "cluster", true],
  [
    "a node-redis sentinel",
    () => createSentinel({ name: "main", sentinelRootNodes: [NODE] }),
    "single",
    true,
  ],
];

describe.each(clients)("%s", (_, make, kind, failsOver) => {
  test("is known for what it is, and whether another server may take over", () => {
    expect(connect(make())).toMatchObject({ kind, failsOver });
  });
});

test("a client that was never connected: one that connects by itself is open, any other is closed", () => {
  expect(connect(new Redis(url, { lazyConnect: true })).isClosed()).toBe(false);
  expect(connect(createClient({ url })).isClosed()).toBe(true);
});

test("a pool has no connection for channels: waiting callers poll", () => {
  expect(connect(createClientPool({ url })).openChannels).toBeUndefined();
  expect(connect(createClient({ url })).openChannels).toBeDefined();
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["a function", () => {}],
  ["what is like ioredis in part", { status: "ready", call: "GET" }],
  ["what is like node-redis in part", { isOpen: "yes", eval: () => {}, evalSha: () => {} }],
])("%s is no client", (_, client) => {
  expect(() => connect(client as unknown as RedisClientLike)).toThrow(
    expect.objectContaining({ code: "ERR_HOLDFIRE_INVALID_INPUT", path: "redis.client" }),
  );
});
