import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterEach, describe, expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import type { StorePromise } from "../../src/ledger/store.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { promiseOf } from "../../src/stores/redis/durability.ts";
import { type RedisStoreOptions, redisStore } from "../../src/stores/redis/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { canStartRedis, type RedisServer, startRedis } from "../servers/redis.ts";

const possible = await canStartRedis();
const DURABLE = ["--appendonly", "yes", "--appendfsync", "always"];

describe("what a Redis is trusted with", () => {
  const good = {
    appendonly: "yes",
    appendfsync: "always",
    maxmemoryPolicy: "noeviction",
    role: "master",
    mode: "standalone",
    replicas: 0,
  };
  const alone = { kind: "single", failsOver: false, accepted: false } as const;

  test("all is well only if all is known and well", () => {
    expect(promiseOf([good], alone)).toMatchObject({ survives: "host", mayForget: false });
  });

  test.each([
    ["appendonly", "no", "append-only"],
    ["appendonly", undefined, "does not tell"],
    ["appendfsync", "everysec", "appendfsync"],
    ["appendfsync", "no", "appendfsync"],
    ["appendfsync", undefined, "does not tell"],
    ["maxmemoryPolicy", "allkeys-lru", "maxmemory-policy"],
    ["maxmemoryPolicy", undefined, "does not tell"],
    ["role", undefined, "does not tell"],
    ["replicas", 1, "failover"],
    ["replicas", undefined, "failover"],
  ])("%s %s: it may forget, and the text says why", (name, value, why) => {
    const promise = promiseOf([good, { ...good, [name]: value }], alone);
    expect(promise.mayForget).toBe(true);
    expect(promise.text).toContain(why);
  });

  test("a client that follows failovers may find a server that knows less", () => {
    const promise = promiseOf([good], { ...alone, failsOver: true });
    expect(promise).toMatchObject({ survives: "host", mayForget: true });
    expect(promise.text).toContain("failover");
  });

  test("no server to ask promises nothing", () => {
    expect(promiseOf([], alone)).toMatchObject({ survives: "process", mayForget: true });
  });
});

describe.runIf(possible)("a real Redis", () => {
  const ends: (() => unknown)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function start(settings: readonly string[]): Promise<RedisServer> {
    const server = await startRedis(settings);
    ends.push(() => server.stop());
    return server;
  }

  function clientOf({ port }: RedisServer): Redis {
    const client = new Redis(port, "127.0.0.1");
    client.on("error", () => {});
    ends.push(() => client.disconnect());
    return client;
  }

  async function promiseMade(
    settings: readonly string[],
    options: Omit<RedisStoreOptions, "client"> = {},
  ): Promise<StorePromise> {
    const store = redisStore({ client: clientOf(await start(settings)), ...options });
    ends.push(() => store.close());
    await store.open();
    return store.promise;
  }

  test("without an append-only file may forget", async () => {
    expect(await promiseMade([])).toMatchObject({
      survives: "process",
      mayForget: true,
      forgettingAccepted: false,
    });
  });

  test("that syncs every second may forget", async () => {
    expect(await promiseMade(["--appendonly", "yes"])).toMatchObject({
      survives: "process",
      mayForget: true,
    });
  });

  test("that syncs every write, evicts nothing and stands alone does not forget", async () => {
    expect(await promiseMade(DURABLE)).toMatchObject({
      survives: "host",
      mayForget: false,
      forgettingAccepted: false,
    });
  });

  test("says the same through node-redis", async () => {
    const server = await start(DURABLE);
    const client = createClient({ url: server.url });
    await client.connect();
    ends.push(() => client.destroy());
    const store = redisStore({ client });
    await store.open();
    expect(store.promise).toMatchObject({ survives: "host", mayForget: false });
    await store.close();
  });

  test("that evicts may forget", async () => {
    const settings = [...DURABLE, "--maxmemory-policy", "allkeys-lru"];
    expect(await promiseMade(settings)).toMatchObject({ survives: "host", mayForget: true });
  });

  test("that forbids CONFIG may forget, unless its settings are declared", async () => {
    const settings = [...DURABLE, "--rename-command", "CONFIG", ""];
    const declared = {
      appendonly: "yes",
      appendfsync: "always",
      maxmemoryPolicy: "noeviction",
    } as const;
    expect((await promiseMade(settings)).mayForget).toBe(true);
    expect((await promiseMade(settings, { durability: declared })).mayForget).toBe(false);
  });

  test("is believed rather than what is declared of it", async () => {
    const durability = { appendonly: "yes", appendfsync: "always" } as const;
    expect((await promiseMade([], { durability })).mayForget).toBe(true);
  });

  test("that may forget may be accepted by name", async () => {
    expect(await promiseMade([], { forgets: "accepted" })).toMatchObject({
      mayForget: true,
      forgettingAccepted: true,
    });
  });

  test("with a replica may forget, and the replica itself is refused", async () => {
    const primary = await start(DURABLE);
    const replica = await start(["--replicaof", "127.0.0.1", String(primary.port)]);
    const client = clientOf(primary);
    while (!(await client.info("replication")).includes("connected_slaves:1")) await client.ping();
    const store = redisStore({ client });
    await store.open();
    expect(store.promise).toMatchObject({ survives: "host", mayForget: true });
    const onReplica = redisStore({ client: clientOf(replica) });
    await expect(onReplica.open()).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_INVALID_INPUT",
      path: "redis.client",
    });
    await store.close();
    await onReplica.close();
  });

  test("that was down at the first use is opened once it is up", async () => {
    const server = await start([]);
    await server.stop({ keepFiles: true });
    const client = new Redis(server.port, "127.0.0.1", {
      maxRetriesPerRequest: 1,
      retryStrategy: () => 20,
    });
    client.on("error", () => {});
    ends.push(() => client.disconnect());
    const store = redisStore({ client });
    await expect(store.open()).rejects.toThrow("max retries per request");
    // A server that has just started knows none of the scripts.
    // Not `once` of node:events: it ends with the first error, and each try to connect has one.
    const ready = new Promise<void>((resolve) => client.once("ready", () => resolve()));
    await server.restart({ empty: true });
    await ready;
    const { id } = await store.open();
    await mustSwap(store, create(recordOf()));
    expect((await store.open()).id).toBe(id);
    await store.close();
  });

  test("that was down at the first use of node-redis is opened once it is up", async () => {
    const server = await start([]);
    await server.stop({ keepFiles: true });
    const client = createClient({ url: server.url, disableOfflineQueue: true });
    client.on("error", () => {});
    ends.push(() => client.destroy());
    const connected = client.connect();
    const store = redisStore({ client });
    await expect(store.open()).rejects.toThrow("offline");
    await server.restart({ empty: true });
    await connected;
    const { id } = await store.open();
    await mustSwap(store, create(recordOf()));
    expect((await store.open()).id).toBe(id);
    await store.close();
  });

  test("promises nothing before it was asked", () => {
    const store = redisStore({ client: new Redis({ lazyConnect: true }) });
    expect(store.promise.mayForget).toBe(true);
  });

  test("that syncs every write keeps the ledger through a kill, under the same id", async () => {
    const server = await start(DURABLE);
    const client = clientOf(server);
    const store = redisStore({ client });
    const { id } = await store.open();
    const { version, sequence } = await mustSwap(store, create(recordOf()));
    await server.restart({ empty: false });
    const next = await mustSwap(store, { ...create(recordOf()), expect: version });
    expect(next.sequence).toBeGreaterThan(sequence);
    expect((await store.open()).id).toBe(id);
    await store.close();
  });

  test("that comes back empty is another ledger", async () => {
    const server = await start([]);
    const store = redisStore({ client: clientOf(server) });
    const { id } = await store.open();
    await mustSwap(store, create(recordOf()));
    await server.restart({ empty: true });
    const again = redisStore({ client: clientOf(server) });
    expect((await again.open()).id).not.toBe(id);
    expect((await mustSwap(store, create(recordOf()))).sequence).toBe(0);
    await store.close();
    await again.close();
  });

  test("that comes back empty under a running process is not believed: nothing is fired again", async () => {
    const server = await start([]);
    const store = redisStore({ client: clientOf(server), forgets: "accepted" });
    const hf = createHoldfire({ store, witness: memoryWitness() });
    let fired = 0;
    const order = hf.tool({
      name: "order",
      kind: "write",
      run: async ({ item }: { item: string }) => {
        fired += 1;
        return { item };
      },
    });
    await order({ item: "tea" }, { scope: "s" });
    await server.restart({ empty: true });
    const again = await order.outcome({ item: "tea" }, { scope: "s" });
    expect(again).toMatchObject({ status: "unknown", reason: "store_lost" });
    expect(fired).toBe(1);
    await hf.close();
  });
});
