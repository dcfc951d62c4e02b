import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Redis } from "ioredis";
import { createClient, createClientPool, RESP_TYPES } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/lang/clock.ts";
import { createLedger, type Ledger } from "../../src/ledger/ledger.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { type RedisClientLike, redisStore } from "../../src/stores/redis/index.ts";
import { claimOf, recordOf } from "../../src/testing/record-of.ts";
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

  test("keeps all it has under its prefix and one hash tag", async () => {
    const prefix = newPrefix();
    const store = redisStore({ client: ioredis, prefix });
    const lane = { name: "payment/p1", expect: 0, lane: { holder: "operation-1", queue: [] } };
    await mustSwap(store, { ...create(recordOf()), lane });
    await store.own("acme", "payments", "re_1", "operation-1");
    const keys = await ioredis.keys(`*${prefix}*`);
    expect(keys.length).toBeGreaterThan(4);
    for (const key of keys) expect(key.startsWith(`${prefix}:{0}:`)).toBe(true);
    await store.close();
  });

  test("two prefixes are two ledgers", async () => {
    const one = redisStore({ client: ioredis, prefix: newPrefix() });
    const other = redisStore({ client: ioredis, prefix: newPrefix() });
    expect((await one.open()).id).not.toBe((await other.open()).id);
    await mustSwap(one, create(recordOf()));
    expect((await other.read("acme", "operation-1")).stored).toBeUndefined();
    await one.close();
    await other.close();
  });

  test("tells names apart that UTF-8 would make one", async () => {
    const store = redisStore({ client: ioredis, prefix: newPrefix() });
    for (const id of ["\ud800", "\ud801"]) await mustSwap(store, create(recordOf({ id })));
    const { items } = await store.list({ tenant: "acme" });
    expect(items.map(({ record }) => record.id)).toEqual(["\ud800", "\ud801"]);
    expect((await mustRead(store, "acme", "\ud801")).record.id).toBe("\ud801");
    await store.close();
  });

  test.each(["", "a b", "a{b}", "x".repeat(65)])("refuses %j as a prefix", (prefix) => {
    expect(() => redisStore({ client: ioredis, prefix })).toThrow(
      expect.objectContaining({ code: "ERR_HOLDFIRE_INVALID_INPUT", path: "redis.prefix" }),
    );
  });

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["an object", {}],
    ["a url", "redis://localhost"],
    ["what is like ioredis in part", { status: "ready" }],
    ["what is like node-redis in part", { isOpen: true, eval: () => {} }],
  ])("refuses %s as a client", (_, client) => {
    expect(() => redisStore({ client: client as unknown as RedisClientLike })).toThrow(
      expect.objectContaining({ code: "ERR_HOLDFIRE_INVALID_INPUT", path: "redis.client" }),
    );
  });

  test.each(["", "x", "-1.0", "1", "1.5e3", "1e400.0", "0.0"])(
    "refuses %j as a cursor",
    async (cursor) => {
      const store = redisStore({ client: ioredis, prefix: newPrefix() });
      await expect(store.list({ tenant: "acme", cursor })).rejects.toMatchObject({
        code: "ERR_HOLDFIRE_INVALID_INPUT",
      });
      await store.close();
    },
  );

  test("a client that is closed, or was never connected, is said to be", async () => {
    const ended = new Redis(url);
    const store = redisStore({ client: ended, prefix: newPrefix() });
    await store.open();
    const end = once(ended, "end");
    await ended.quit();
    await end;
    await expect(store.swap(create(recordOf()))).rejects.toMatchObject({ path: "redis.client" });
    const unconnected = redisStore({ client: createClient({ url }), prefix: newPrefix() });
    await expect(unconnected.open()).rejects.toMatchObject({ path: "redis.client" });
    await store.close();
    await unconnected.close();
  });

  const named: readonly (readonly [string, (name: string) => Promise<RedisClientLike & Ended>])[] =
    [
      ["ioredis", async (connectionName) => new Redis(url, { connectionName })],
      ["node-redis", (name) => createClient({ url, name }).connect()],
    ];
  test.each(named)(
    "closing leaves the user's client open, and ends what the store opened itself: %s",
    async (kind, makeClient) => {
      const name = `${run}-own-${kind}`;
      const client = await makeClient(name);
      const store = redisStore({ client, prefix: newPrefix() });
      await mustSwap(store, create(recordOf()));
      await new Promise<void>((resolve) => store.watch?.("acme", "operation-1", resolve));
      const ours = async (): Promise<number> =>
        String(await ioredis.client("LIST")).split(`name=${name} `).length - 1;
      expect(await ours()).toBe(2);
      await store.close();
      while ((await ours()) > 1) await ioredis.ping();
      expect(await client.ping()).toBe("PONG");
      await client.quit();
    },
  );

  test("a client that takes no commands before it is connected still hears of changes", async () => {
    const prefix = newPrefix();
    const client = new Redis(url, { enableOfflineQueue: false, lazyConnect: true });
    await client.connect();
    const [one, other] = [redisStore({ client: ioredis, prefix }), redisStore({ client, prefix })];
    const { version } = await mustSwap(one, create(recordOf()));
    await heardBy(other, () => mustSwap(one, { ...create(recordOf()), expect: version }));
    await one.close();
    await other.close();
    await client.quit();
  });

  test("a pool of connections will do, and texts are texts whatever the client maps them to", async () => {
    const pool = createClientPool({ url });
    await pool.connect();
    const buffers = nodeRedis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    for (const client of [pool, buffers]) {
      const store = redisStore({ client, prefix: newPrefix() });
      await mustSwap(store, create(recordOf()));
      expect((await mustRead(store, "acme", "operation-1")).record).toEqual(recordOf());
      await store.close();
    }
    await pool.close();
  });

  test("a prefix of the client's own is kept, and watchers still hear", async () => {
    const prefix = newPrefix();
    const keyPrefix = "app:";
    const prefixed = createClient({ url, keyPrefix });
    await prefixed.connect();
    const clients = [new Redis(url, { keyPrefix }), prefixed] as const;
    const [one, other] = clients.map((client) => redisStore({ client, prefix }));
    if (!one || !other) throw new Error("There are two.");
    const { version } = await mustSwap(one, create(recordOf()));
    await heardBy(other, () => mustSwap(one, { ...create(recordOf()), expect: version }));
    for (const key of await ioredis.keys(`*${prefix}:*`)) expect(key).toMatch(/^app:/);
    expect((await mustRead(other, "acme", "operation-1")).record).toEqual(recordOf());
    await one.close();
    await other.close();
    clients[0].disconnect();
    await prefixed.close();
  });

  describe.each(clients)("through %s", (_, client) => {
    test("a watcher hears of changes made by another process", async () => {
      const prefix = newPrefix();
      const [one, other] = [redisStore({ client, prefix }), redisStore({ client, prefix })];
      const { version } = await mustSwap(one, create(recordOf()));
      await heardBy(other, () => mustSwap(one, { ...create(recordOf()), expect: version }));
      await one.close();
      await other.close();
    });

    test("a name without a record is passed over, and struck out", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client, prefix });
      for (const id of ["a", "b", "c"]) await mustSwap(store, create(recordOf({ id })));
      await ioredis.del(`${prefix}:{0}:o:"acme""b"`);
      const { items } = await store.list({ tenant: "acme" });
      expect(items.map(({ record }) => record.id)).toEqual(["a", "c"]);
      expect(await ioredis.zcard(`${prefix}:{0}:i:"acme"`)).toBe(2);
      await store.close();
    });

    test("an operation that is removed leaves nothing but the ledger's name and counter", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client, prefix });
      await store.open();
      const before = await ioredis.keys(`${prefix}:*`);
      const { version } = await mustSwap(store, create(recordOf()));
      await store.own("acme", "payments", "effect-1", "operation-1");
      await mustSwap(store, { ...create(recordOf()), expect: version, record: undefined });
      expect((await ioredis.keys(`${prefix}:*`)).toSorted()).toEqual(before.toSorted());
      await store.close();
    });

    test("more is pruned than one page has, no more than asked for, and no record twice", async () => {
      const prefix = newPrefix();
      const [store, other] = [redisStore({ client, prefix }), redisStore({ client, prefix })];
      const payload = { form: "json", text: '"secret"' } as const;
      const state = { tag: "committed", via: "reply", payload } as const;
      await Promise.all(
        Array.from({ length: 300 }, (_, n) =>
          mustSwap(store, create(recordOf({ id: `operation-${n}`, state, stateAt: 0 }))),
        ),
      );
      const payloads = { tenant: "acme", payloadsOlderThanMs: 1 };
      expect((await store.prune({ ...payloads, limit: 200 })).payloads).toBe(200);
      // The next one goes on where the last one stopped; one that asks for something else begins anew.
      const tombstones = { tenant: "acme", tombstonesOlderThanMs: 1 };
      expect((await store.prune({ ...tombstones, limit: 10 })).tombstones).toBe(10);
      expect(await store.read("acme", "operation-0")).toMatchObject({ stored: undefined });
      const rest = await Promise.all([store.prune(payloads), other.prune(payloads)]);
      expect(rest.reduce((sum, pruned) => sum + pruned.payloads, 0)).toBe(100);
      expect(await store.prune(tombstones)).toEqual({ payloads: 0, tombstones: 290 });
      expect((await store.list({ tenant: "acme" })).items).toEqual([]);
      await store.close();
      await other.close();
    });

    test("what was watched is not listened to for ever: the last hundred records are", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client, prefix });
      await store.open();
      for (let n = 0; n < 103; n += 1) {
        let stop: (() => void) | undefined;
        await new Promise<void>((resolve) => {
          stop = store.watch?.("acme", `operation-${n}`, resolve);
        });
        stop?.();
      }
      const heard = async () => (await ioredis.pubsub("CHANNELS", `${prefix}:*`)).map(String);
      while ((await heard()).length > 100) await ioredis.ping();
      const channel = (n: number) => `${prefix}:{0}:o:"acme""operation-${n}"`;
      const expected = Array.from({ length: 100 }, (_, n) => channel(n + 3));
      expect((await heard()).toSorted()).toEqual(expected.toSorted());
      await store.close();
    });

    test("what is no record is never overwritten", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client, prefix });
      await store.open();
      const key = `${prefix}:{0}:o:"acme""operation-1"`;
      await ioredis.set(key, "not a record");
      for (const expected of [0, 5]) {
        await expect(store.swap({ ...create(recordOf()), expect: expected })).rejects.toMatchObject(
          { code: "ERR_HOLDFIRE_STORE_UNAVAILABLE", reason: "damaged_record" },
        );
      }
      expect(await ioredis.get(key)).toBe("not a record");
      await store.close();
    });

    test("a lane can be left without a record", async () => {
      const store = redisStore({ client, prefix: newPrefix() });
      const name = "payment/p1";
      const taken = { holder: "operation-1", queue: [] };
      await mustSwap(store, { ...create(recordOf()), lane: { name, expect: 0, lane: taken } });
      const { stored } = await store.readLane("acme", name);
      const nothing = { ...create(recordOf({ id: "operation-2" })), record: undefined };
      const lane = { name, expect: stored?.version ?? 0, lane: undefined };
      await mustSwap(store, { ...nothing, lane });
      expect((await store.readLane("acme", name)).stored).toBeUndefined();
      await store.close();
    });

    test("the longest lease is a century, and a lease that is no number is refused", async () => {
      const store = redisStore({ client, prefix: newPrefix() });
      const { leaseUntil = 0, version } = await mustSwap(store, {
        ...create(recordOf()),
        lease: Number.POSITIVE_INFINITY,
      });
      expect(leaseUntil).toBe((await mustRead(store, "acme", "operation-1")).leaseUntil);
      expect(Number.isSafeInteger(leaseUntil)).toBe(true);
      await expect(
        store.swap({ ...create(recordOf()), expect: version, lease: Number.NaN }),
      ).rejects.toMatchObject({ path: "change.lease" });
      await store.close();
    });

    test("a ledger that is lost while in use is gone on with, but hands out sequence 0 until it is opened again", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client, prefix });
      const { id } = await store.open();
      const { version, sequence } = await mustSwap(store, create(recordOf()));
      expect(sequence).toBeGreaterThan(0);
      await forget(prefix);
      // Another process has opened it meanwhile: the new ledger is in use already.
      const another = redisStore({ client, prefix });
      await mustSwap(another, create(recordOf({ id: "operation-2" })));
      expect((await store.read("acme", "operation-1")).stored).toBeUndefined();
      const after = await mustSwap(store, create(recordOf()));
      expect(after.sequence).toBe(0);
      expect(after.version).toBeGreaterThan(version);
      const incarnation = await store.open();
      expect(incarnation.id).not.toBe(id);
      expect(incarnation.id).toBe((await another.open()).id);
      const { sequence: next } = await mustSwap(store, create(recordOf({ id: "operation-3" })));
      expect(next).toBeGreaterThan(incarnation.sequence);
      await store.close();
      await another.close();
    });

    test("a server that has gone back, as a promoted replica may, is noticed by the next write", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client, prefix });
      const { id } = await store.open();
      const { version } = await mustSwap(store, create(recordOf()));
      await ioredis.set(`${prefix}:{0}:n:"${id}"`, version - 10);
      const next = await mustSwap(store, create(recordOf({ id: "operation-2" })));
      expect(next.sequence).toBe(0);
      await store.close();
    });

    test("an owner from before it went back does not write over a later one, though their versions are equal", async () => {
      const prefix = newPrefix();
      const ledger = () =>
        createLedger({
          store: redisStore({ client, prefix }),
          clock: systemClock,
          witness: memoryWitness(),
          onSuspect() {},
          onWitnessError() {},
        });
      const [first, second] = [ledger(), ledger()];
      const { id } = await first.store.open();
      await second.store.open();
      const counter = `${prefix}:{0}:n:"${id}"`;
      const before = `${await ioredis.get(counter)}`;
      const ref = { tenant: "acme", id: recordOf().id };
      const claimedBy = async ({ move }: Ledger, holder: string) => {
        const claimed = await move(ref, claimOf({ holder, at: 1 }));
        if (claimed.tag !== "moved" || !claimed.stored) throw new Error("The claim was refused.");
        return claimed.stored;
      };
      const old = await claimedBy(first, "first");
      // A replica takes over that has not heard of the claim.
      await ioredis.del(`${prefix}:{0}:o:"acme""${ref.id}"`);
      await ioredis.set(counter, before);
      const later = await claimedBy(second, "second");
      expect([later.version, later.record.epoch]).toEqual([old.version, old.record.epoch]);
      const state = { tag: "not_applied", reason: "rejected" } as const;
      const { epoch } = old.record;
      const settle = { move: "settle", holder: "first", epoch, state, updates: [], at: 2 } as const;
      expect(await first.move(ref, settle, old)).toMatchObject({ tag: "refused", why: "stale" });
      const settled = await second.move(ref, { ...settle, holder: "second" }, later);
      expect(settled.tag).toBe("moved");
    });

    test("a counter that is gone makes it another ledger", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client, prefix });
      const { id } = await store.open();
      const { version } = await mustSwap(store, create(recordOf()));
      await ioredis.del(`${prefix}:{0}:n:"${id}"`);
      expect((await store.open()).id).not.toBe(id);
      const changed = await mustSwap(store, { ...create(recordOf()), expect: version });
      expect(changed.version).toBeGreaterThan(version);
      await store.close();
    });
  });

  /** Removes a ledger, as FLUSHALL would. */
  async function forget(prefix: string): Promise<void> {
    await ioredis.del(await ioredis.keys(`${prefix}:*`));
  }
});

interface Ended {
  ping(): Promise<unknown>;
  quit(): Promise<unknown>;
}

/** Watches, changes once the subscription stands, and returns when the change was heard. */
async function heardBy(store: Store, change: () => Promise<unknown>): Promise<void> {
  let heard = () => {};
  const next = () =>
    new Promise<void>((resolve) => {
      heard = resolve;
    });
  const listening = next();
  store.watch?.("acme", "operation-1", () => heard());
  // Called once when the subscription stands.
  await listening;
  const changed = next();
  await change();
  await changed;
}
