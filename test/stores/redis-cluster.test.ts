import { Cluster, Redis } from "ioredis";
import { createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Change, Store } from "../../src/ledger/store.ts";
import { type RedisClientLike, redisStore } from "../../src/stores/redis/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { canStartRedis, type RedisCluster, startCluster } from "../servers/redis.ts";

let ledgers = 0;
const newPrefix = (): string => {
  ledgers += 1;
  return `hf-${ledgers}`;
};

describe.runIf(await canStartRedis())("the Redis store on a cluster of three", () => {
  let cluster: RedisCluster;
  let nodes: readonly { readonly host: string; readonly port: number }[];
  let ioredis: Cluster;
  let nodeRedis: ReturnType<typeof createCluster>;
  const clients: readonly (readonly [string, () => RedisClientLike])[] = [
    ["ioredis", () => ioredis],
    ["node-redis", () => nodeRedis],
  ];

  // Not while the file is loaded: a run that ends before these tests leaves no servers behind.
  beforeAll(async () => {
    cluster = await startCluster();
    nodes = cluster.ports.map((port) => ({ host: "127.0.0.1", port }));
    ioredis = new Cluster([...nodes], { lazyConnect: true });
    nodeRedis = createCluster({ rootNodes: nodes.map((socket) => ({ socket })) });
    nodeRedis.on("error", () => {});
    await ioredis.connect();
    await nodeRedis.connect();
  });

  afterAll(async () => {
    ioredis.disconnect();
    nodeRedis.destroy();
    await cluster.stop();
  });

  for (const [name, client] of clients) {
    let prefix = "";
    storeContract(`${name}, cluster`, {
      open: () => {
        prefix = newPrefix();
        return redisStore({ client: client(), prefix });
      },
      reopen: () => redisStore({ client: client(), prefix }),
      clock: "server",
      capabilities: { joinsLanes: false },
    });
  }

  describe.each(clients)("through %s", (_, client) => {
    test("a ledger is spread over all servers, and listed as one", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client: client(), prefix });
      const ids = Array.from({ length: 100 }, (_, index) => `operation-${index}`);
      for (const id of ids) await mustSwap(store, create(recordOf({ id })));
      const { items } = await store.list({ tenant: "acme" });
      expect(items.map(({ record }) => record.id)).toEqual(ids);
      for (const node of ioredis.nodes("master")) {
        const keys = await node.keys(`${prefix}:*:o:*`);
        expect(keys.length).toBeGreaterThan(ids.length / 10);
      }
      await store.close();
    });

    test("a cluster may forget, and says why", async () => {
      const store = redisStore({ client: client(), prefix: newPrefix() });
      await store.open();
      expect(store.promise).toMatchObject({ mayForget: true, forgettingAccepted: false });
      expect(store.promise.text).toContain("failover");
      // Each of its servers was asked.
      expect(store.promise.text).toContain("append-only");
      expect(store.promise.text).not.toContain("does not tell");
      await store.close();
    });

    test("one server that has lost its part makes it another ledger", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client: client(), prefix });
      const { id } = await store.open();
      const [node] = ioredis.nodes("master");
      const lost = (await node?.keys(`${prefix}:*`)) ?? [];
      for (const key of lost) await node?.del(key);
      expect(lost.length).toBeGreaterThan(0);
      const another = redisStore({ client: client(), prefix });
      expect((await another.open()).id).not.toBe(id);
      await store.close();
      await another.close();
    });

    test("a later change has the higher sequence, although the clocks of the servers disagree", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client: client(), prefix });
      await store.open();
      const [ahead, behind] = await makeApart(store, prefix);
      const hence = (Date.now() + 3_600_000) * 1_000;
      await ioredis.set(await counterOf(prefix, ahead.id), hence);
      const first = await mustSwap(store, ahead);
      expect(first.sequence).toBeGreaterThan(hence);
      const second = await mustSwap(store, behind);
      expect(second.sequence).toBeGreaterThan(first.sequence);
      await store.close();
    });

    test("a server that has gone back, as a promoted replica may, is noticed by the next write", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client: client(), prefix });
      const { version } = await mustSwap(store, create(recordOf()));
      const counter = await counterOf(prefix, "operation-1");
      await ioredis.set(counter, version - 1);
      const next = await mustSwap(store, { ...create(recordOf()), expect: version });
      expect(next.sequence).toBe(0);
      expect(next.version).toBeGreaterThan(version);
      await store.close();
    });

    test("two operations created at the same moment on two servers are both listed, once", async () => {
      const prefix = newPrefix();
      const store = redisStore({ client: client(), prefix });
      await store.open();
      const ids = (await makeApart(store, prefix)).map(({ id }) => id);
      const listed: string[] = [];
      for (const id of ids) {
        await ioredis.zadd(`${prefix}:{${await tagOf(prefix, id)}}:i:"acme"`, "XX", 7, `"${id}"`);
      }
      const query = { tenant: "acme", limit: 1 };
      let { items, cursor } = await store.list(query);
      for (;;) {
        listed.push(...items.map(({ record }) => record.id));
        if (cursor === undefined) break;
        ({ items, cursor } = await store.list({ ...query, cursor }));
      }
      expect(listed.toSorted()).toEqual(ids.toSorted());
      await store.close();
    });

    test("who leaves a lane has settled its record first", async () => {
      const store = redisStore({ client: client(), prefix: newPrefix() });
      const lane = { name: "payment/p1", expect: 0, lane: { holder: "operation-1", queue: [] } };
      const { version } = await mustSwap(store, { ...create(recordOf()), lane });
      const { stored } = await store.readLane("acme", lane.name);
      const settled = recordOf({ state: { tag: "committed", via: "reply" } });
      const leave = { name: lane.name, expect: stored?.version ?? 0, lane: undefined };
      const stale = await store.swap({ ...create(settled), expect: version + 1, lane: leave });
      expect(stale.ok).toBe(false);
      expect((await store.readLane("acme", lane.name)).stored).toEqual(stored);
      await mustSwap(store, { ...create(settled), expect: version, lane: leave });
      expect((await store.readLane("acme", lane.name)).stored).toBeUndefined();
      expect((await mustRead(store, "acme", "operation-1")).record).toEqual(settled);
      await store.close();
    });
  });

  /** The hash tag under which an operation is kept. */
  async function tagOf(prefix: string, id: string): Promise<string> {
    for (const node of ioredis.nodes("master")) {
      const [key] = await node.keys(`${prefix}:*:o:"acme""${id}"`);
      const tag = /\{(\d+)\}/.exec(key ?? "")?.[1];
      if (tag !== undefined) return tag;
    }
    throw new Error(`${id} is not there.`);
  }

  async function counterOf(prefix: string, id: string): Promise<string> {
    const tag = await tagOf(prefix, id);
    return `${prefix}:{${tag}}:n:"${await ioredis.get(`${prefix}:{${tag}}:b:`)}"`;
  }

  /** Makes two operations that are kept apart, and returns a next change of each. */
  async function makeApart(store: Store, prefix: string): Promise<readonly [Change, Change]> {
    const made = new Map<string, Change>();
    for (let index = 0; ; index += 1) {
      const change = create(recordOf({ id: `apart-${index}` }));
      const { version } = await mustSwap(store, change);
      const tag = await tagOf(prefix, change.id);
      if (made.has(tag)) await mustSwap(store, { ...change, expect: version, record: undefined });
      else made.set(tag, { ...change, expect: version });
      const [one, other] = [...made.values()];
      if (one && other) return [one, other];
    }
  }

  test("a client of one node of the cluster is refused", async () => {
    const single = new Redis(nodes[0]?.port ?? 0, "127.0.0.1");
    const store = redisStore({ client: single });
    await expect(store.open()).rejects.toMatchObject({ code: "ERR_HOLDFIRE_INVALID_INPUT" });
    await store.close();
    single.disconnect();
  });
});
