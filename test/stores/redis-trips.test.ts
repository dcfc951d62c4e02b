import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { type RedisClientLike, redisStore } from "../../src/stores/redis/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { canStartRedis, type RedisServer, startRedis } from "../servers/redis.ts";
import { type RedisProxy, startProxy } from "../servers/redis-proxy.ts";

const possible = await canStartRedis();
let ledgers = 0;
const newPrefix = (): string => {
  ledgers += 1;
  return `hf-${ledgers}`;
};

describe.runIf(possible)("the Redis store, seen from the wire", () => {
  let server: RedisServer;
  let proxy: RedisProxy;
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    server = await startRedis();
    proxy = await startProxy(server.port);
  });

  afterAll(async () => {
    for (const end of ends) await end();
    await proxy.close();
    await server.stop();
  });

  const makeIoredis = async (): Promise<RedisClientLike> => {
    const client = new Redis(proxy.port, "127.0.0.1");
    ends.push(() => client.disconnect());
    return client;
  };
  const makeNodeRedis = async (): Promise<RedisClientLike> => {
    const client = createClient({ url: `redis://127.0.0.1:${proxy.port}` });
    client.on("error", () => {});
    await client.connect();
    ends.push(() => client.destroy());
    return client;
  };

  describe.each([
    ["ioredis", makeIoredis],
    ["node-redis", makeNodeRedis],
  ])("through %s", (_, makeClient) => {
    test("a call that goes well costs two trips, and its replay one", async () => {
      const client = await makeClient();
      const store = redisStore({ client, prefix: newPrefix(), forgets: "accepted" });
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
      await order({ item: "coffee" }, { scope: "s" });
      proxy.taken();
      expect(await order({ item: "tea" }, { scope: "s" })).toEqual({ item: "tea" });
      expect(proxy.taken()).toEqual(["EVALSHA", "EVALSHA"]);
      expect(await order({ item: "tea" }, { scope: "s" })).toEqual({ item: "tea" });
      expect(proxy.taken()).toEqual(["EVALSHA"]);
      expect(fired).toBe(2);
      await hf.close();
    });

    test("a list by scope, and one of what is open, cost two trips among any number of others", async () => {
      const store = redisStore({ client: await makeClient(), prefix: newPrefix() });
      const settled = { tag: "committed", via: "reply" } as const;
      const others = Array.from({ length: 300 }, (_, n) =>
        recordOf({ id: `other-${n}`, scope: `other-${n}`, state: settled }),
      );
      const own = ["a", "b"].map((id) => recordOf({ id, scope: "own" }));
      await Promise.all(others.slice(0, 150).map((record) => mustSwap(store, create(record))));
      for (const record of own) await mustSwap(store, create(record));
      await Promise.all(others.slice(150).map((record) => mustSwap(store, create(record))));
      // The server knows the scripts from here on.
      await store.list({ tenant: "acme", limit: 1 });
      for (const query of [{ scope: "own" }, { states: ["claimed"] }] as const) {
        proxy.taken();
        const { items } = await store.list({ tenant: "acme", ...query });
        expect(items.map(({ record }) => record)).toEqual(own);
        expect(proxy.taken()).toHaveLength(2);
      }
      await store.close();
    });

    test("a server that has forgotten the scripts is told them again", async () => {
      const store = redisStore({ client: await makeClient(), prefix: newPrefix() });
      const { version } = await mustSwap(store, create(recordOf()));
      const admin = new Redis(server.port);
      await admin.script("FLUSH");
      proxy.taken();
      await mustSwap(store, { ...create(recordOf()), expect: version });
      expect(proxy.taken()).toEqual(["EVALSHA", "EVAL"]);
      await mustRead(store, "acme", "operation-1");
      expect(proxy.taken()).toEqual(["EVALSHA", "EVAL"]);
      await mustRead(store, "acme", "operation-1");
      expect(proxy.taken()).toEqual(["EVALSHA"]);
      await admin.quit();
      await store.close();
    });

    test("changes asked for at the same time share a trip, and each is made or refused alone", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client: await makeClient(), prefix });
      const admin = new Redis(server.port);
      await mustSwap(store, create(recordOf({ id: "taken" })));
      await admin.set(`${prefix}:{0}:o:"acme""damaged"`, "not a record");
      proxy.taken();
      const ids = ["a", "b", "taken", "damaged", "c", "c"];
      const swaps = ids.map((id) => store.swap({ ...create(recordOf({ id })), lease: 60_000 }));
      const ends = await Promise.allSettled(swaps);
      expect(proxy.taken()).toEqual(["EVALSHA"]);
      expect(ends.map((end) => (end.status === "fulfilled" ? end.value.ok : end.reason))).toEqual([
        true,
        true,
        false,
        expect.objectContaining({ reason: "damaged_record" }),
        true,
        false,
      ]);
      expect(ends[2]).toMatchObject({ value: { current: { record: recordOf({ id: "taken" }) } } });
      for (const [place, id] of ids.entries()) {
        const end = ends[place];
        if (end?.status !== "fulfilled" || !end.value.ok) continue;
        const { version, leaseUntil, stamp } = end.value;
        expect(await mustRead(store, "acme", id)).toEqual({
          record: recordOf({ id }),
          version,
          leaseUntil,
          stamp,
        });
      }
      await admin.quit();
      await store.close();
    });

    test("callers that were answered by one trip go on by one", async () => {
      const store = redisStore({ client: await makeClient(), prefix: newPrefix() });
      await mustSwap(store, create(recordOf()));
      proxy.taken();
      const call = async (id: string): Promise<void> => {
        const { version: expect } = await mustSwap(store, create(recordOf({ id })));
        await mustSwap(store, { ...create(recordOf({ id })), expect });
      };
      await Promise.all(Array.from({ length: 10 }, (_, n) => call(`new-${n}`)));
      expect(proxy.taken()).toHaveLength(2);
      await store.close();
    });

    test("changes of different tenants do not share a trip", async () => {
      const store = redisStore({ client: await makeClient(), prefix: newPrefix() });
      await mustSwap(store, create(recordOf()));
      proxy.taken();
      const tenants = ["acme", "zenith", "acme", "acme", "zenith", "zenith"];
      const records = tenants.map((tenant, place) => recordOf({ tenant, id: `new-${place}` }));
      await Promise.all(records.map((record) => mustSwap(store, create(record))));
      expect(proxy.taken()).toHaveLength(2);
      for (const tenant of ["acme", "zenith"]) {
        const { items } = await store.list({ tenant, newestFirst: true, limit: 3 });
        const own = records.filter((record) => record.tenant === tenant);
        expect(items.map(({ record }) => record)).toEqual(own.toReversed());
      }
      await store.close();
    });

    test("a change that the server refuses fails alone, and those sent with it are made once", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client: await makeClient(), prefix });
      const admin = new Redis(server.port);
      await mustSwap(store, create(recordOf({ id: "first" })));
      await admin.lpush(`${prefix}:{0}:o:"acme""list"`, "a list");
      const ids = ["at-once", "too", "before", "list", "after"];
      const swaps = ids.map((id) => store.swap(create(recordOf({ id }))));
      const ends = await Promise.allSettled(swaps);
      expect(
        ends.map((end) => (end.status === "fulfilled" ? end.value.ok : String(end.reason))),
      ).toEqual([true, true, true, expect.stringMatching(/WRONGTYPE/), true]);
      const { items } = await store.list({ tenant: "acme" });
      expect(items.map(({ record }) => record.id)).toEqual([
        "first",
        ...ids.filter((id) => id !== "list"),
      ]);
      const before = await mustRead(store, "acme", "before");
      expect(ends[2]).toMatchObject({ value: { version: before.version } });
      await admin.quit();
      await store.close();
    });

    test("a refusal by the server is an error, and the store goes on after it", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client: await makeClient(), prefix });
      await store.open();
      const admin = new Redis(server.port);
      await admin.lpush(`${prefix}:{0}:o:"acme""operation-1"`, "a list");
      await expect(store.swap(create(recordOf()))).rejects.toThrow(/WRONGTYPE/);
      await mustSwap(store, create(recordOf({ id: "operation-2" })));
      await admin.quit();
      await store.close();
    });
  });

  test("a caller that watches, reads and watches again subscribes once, and hears of changes in between", async () => {
    const prefix = newPrefix();
    const store = redisStore({ client: await makeIoredis(), prefix });
    const direct = new Redis(server.port);
    const other = redisStore({ client: direct, prefix });
    let { version } = await mustSwap(other, create(recordOf()));
    const change = async () => {
      ({ version } = await mustSwap(other, { ...create(recordOf()), expect: version }));
    };
    await store.open();
    proxy.taken();
    // The first watcher is called when the subscription stands.
    await watched(store);
    let early = 0;
    const stop = store.watch?.("acme", "operation-1", () => {
      early += 1;
    });
    for (let reads = 0; reads < 10; reads += 1) await store.read("acme", "operation-1");
    expect(early).toBe(0);
    stop?.();
    const second = watched(store);
    await change();
    await second;
    await change();
    await watched(store);
    const channels = proxy.taken().filter((name) => name.endsWith("SUBSCRIBE"));
    expect(channels).toEqual(["SUBSCRIBE"]);
    await store.close();
    await other.close();
    await direct.quit();
  });

  test("a write that the client sends again after a lost reply is told as done, once", async () => {
    const store = redisStore({ client: await makeIoredis(), prefix: newPrefix() });
    await store.open();
    proxy.taken();
    proxy.loseNextReply();
    const claimed = await mustSwap(store, { ...create(recordOf()), lease: 60_000 });
    expect(proxy.taken().filter((name) => name === "EVALSHA")).toHaveLength(2);
    const { version, leaseUntil, stamp } = await mustRead(store, "acme", "operation-1");
    expect(claimed).toMatchObject({ version, leaseUntil, stamp });

    proxy.loseNextReply();
    const settled = recordOf({ state: { tag: "committed", via: "reply" } });
    const done = await mustSwap(store, { ...create(settled), expect: claimed.version });
    expect(await mustRead(store, "acme", "operation-1")).toEqual({
      record: settled,
      version: done.version,
      leaseUntil: undefined,
      stamp: done.stamp,
    });
    await store.close();
  });

  test("a change that waits to be sent with others is sent before the store is closed", async () => {
    const client = new Redis(server.port);
    const store = redisStore({ client, prefix: newPrefix() });
    await store.open();
    const swaps = ["a", "b", "c"].map((id) => store.swap(create(recordOf({ id }))));
    await store.close();
    await client.quit();
    for (const swap of swaps) expect(await swap).toMatchObject({ ok: true });
  });

  test("writes that were sent together, and whose reply was lost, are each told as done", async () => {
    const store = redisStore({ client: await makeIoredis(), prefix: newPrefix() });
    await store.open();
    const [, , ...others] = ["at-once", "too", "a", "b", "c"].map((id, place) => {
      if (place === 2) proxy.loseNextReply();
      return { id, swap: mustSwap(store, create(recordOf({ id }))) };
    });
    for (const { id, swap } of others) {
      expect((await mustRead(store, "acme", id)).version).toBe((await swap).version);
    }
    await store.close();
  });

  test("a write whose reply was lost is refused the second time if another process changed the record", async () => {
    const prefix = newPrefix();
    const store = redisStore({ client: await makeIoredis(), prefix });
    const direct = new Redis(server.port);
    const other = redisStore({ client: direct, prefix });
    const { version } = await mustSwap(store, create(recordOf()));
    await mustSwap(other, { ...create(recordOf({ argsHash: "other" })), expect: version });
    proxy.loseNextReply();
    const late = await store.swap({ ...create(recordOf()), expect: version });
    expect(late).toMatchObject({ ok: false, current: { record: { argsHash: "other" } } });
    await store.close();
    await other.close();
    await direct.quit();
  });

  test("a lost connection is an error, not a second try, where the client does not send again", async () => {
    const store = redisStore({ client: await makeNodeRedis(), prefix: newPrefix() });
    await store.open();
    proxy.taken();
    proxy.loseNextReply();
    await expect(store.swap(create(recordOf()))).rejects.toThrow();
    expect(proxy.taken().filter((name) => name.startsWith("EVAL"))).toEqual(["EVALSHA"]);
    expect((await mustRead(store, "acme", "operation-1")).record).toEqual(recordOf());
    await store.close();
  });
});

/** Watches until the watcher is called, and stops. */
async function watched(store: Store): Promise<void> {
  let stop: (() => void) | undefined;
  await new Promise<void>((resolve) => {
    stop = store.watch?.("acme", "operation-1", resolve);
  });
  stop?.();
}
