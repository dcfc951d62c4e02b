import { randomUUID } from "node:crypto";
import { setTimeout as after } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { notApplied } from "../../src/classify/not-applied.ts";
import { createHoldfire } from "../../src/create.ts";
import { engineOf } from "../../src/engine/engine-of.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { redisStore } from "../../src/stores/redis/index.ts";
import { findGround, type Ground } from "../processes/ground.ts";
import { openPlace, STORES } from "../processes/place.ts";
import { canStartRedis, startCluster } from "../servers/redis.ts";

const HOLDFIRES = 4;
const ROUNDS = 6;

interface Opened {
  readonly store: Store;
  end(): Promise<void>;
}

/** Several holdfires, each with a store of its own on the same ledger, replace the tags they have read. */
async function crowd(open: () => Promise<Opened>, resource: boolean) {
  let tags: readonly string[] = [];
  let inside = 0;
  let most = 0;
  const opened = await Promise.all(Array.from({ length: HOLDFIRES }, open));
  const holdfires = opened.map(({ store }) => createHoldfire({ store, witness: memoryWitness() }));
  const outcomes = await Promise.all(
    holdfires.map(async (hf, who) => {
      const add = hf.tool({
        name: "add_tag",
        kind: "write",
        keyed: { forMs: 60_000 },
        ...(resource && { resource: () => "record/1" }),
        run: async ({ tag }: { readonly tag: string }) => {
          inside += 1;
          most = Math.max(most, inside);
          const read = tags;
          await after(3);
          tags = [...read, tag];
          inside -= 1;
          return tag;
        },
      });
      const told: string[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const tag = `${who}-${round}`;
        told.push((await add.outcome({ tag }, { scope: `request/${tag}` })).status);
      }
      return told;
    }),
  );
  const { stored: left } = await (opened[0] as Opened).store.readLane("default", "record/1");
  for (const hf of holdfires) await hf.close();
  for (const { end } of opened) await end();
  return { tags, most, told: new Set(outcomes.flat()), left };
}

const ALL = HOLDFIRES * ROUNDS;

/** Two runs of one scope, in two holdfires: what the second is told of another intent. */
async function drift(open: () => Promise<Opened>): Promise<string[]> {
  const told: string[] = [];
  for (const tag of ["red", "blue"]) {
    const { store, end } = await open();
    const hf = createHoldfire({ store, witness: memoryWitness() });
    const add = hf.tool({
      name: "add_tag",
      kind: "write",
      keyed: { forMs: 60_000 },
      resource: () => "record/1",
      run: async (args: { readonly tag: string }) => args.tag,
    });
    const outcome = await hf.scope("turn-3", () => add.outcome({ tag }));
    told.push(outcome.status === "held" ? outcome.reason : outcome.status);
    await hf.close();
    await end();
  }
  return told;
}

/** Three are done and then pruned; one that came after them still waits for a person. */
async function driftBehindPruned({ store, end }: Opened): Promise<string[]> {
  const hf = createHoldfire({ store, witness: memoryWitness() });
  const add = hf.tool({
    name: "add_tag",
    kind: "write",
    keyed: { forMs: 60_000 },
    resource: () => "record/1",
    run: async (args: { readonly tag: string }) => args.tag,
  });
  const told: string[] = [];
  const run = (...tags: string[]) =>
    hf.scope("turn-3", async () => {
      for (const tag of tags) {
        const outcome = await add.outcome({ tag });
        told.push(outcome.status === "held" ? outcome.reason : outcome.status);
      }
    });
  await run("red", "green", "blue");
  await run("white");
  for (let left = 3; left > 0; ) {
    left -= (await hf.prune({ tombstonesOlderThanMs: 1 })).tombstones;
  }
  await run("black");
  await hf.close();
  await end();
  return told;
}

/** One was told as rejected and left its lane; then a request of it is seen to leave. */
async function doubtAfterwards(open: () => Promise<Opened>): Promise<unknown[]> {
  const { store, end } = await open();
  const hf = createHoldfire({ store, witness: memoryWitness() });
  const add = hf.tool({
    name: "add_tag",
    kind: "write",
    resource: () => "record/1",
    classify: () => "rejected",
    run: async ({ tag }: { readonly tag: string }) => {
      if (tag === "red") throw new Error("no");
    },
  });
  const one = (tag: string) => add.outcome({ tag }, { scope: `request/${tag}` });
  const red = await one("red");
  const { ledger } = engineOf(hf);
  const at = ledger.clock.latest();
  const late = { move: "doubt", attempt: 1, why: "late_send", endsBy: at, at } as const;
  await ledger.move({ tenant: "default", id: red.id }, late);
  const blue = await one("blue");
  const blocker = blue.status === "held" && blue.reason === "lane" && blue.blockedBy;
  await hf.operations.resolve(red.id, { as: "committed", by: "ana" });
  const told = [red.status, blue.status, blocker === red.id, (await one("blue")).status];
  const { stored: left } = await store.readLane("default", "record/1");
  await hf.close();
  await end();
  return [...told, left];
}

const BLOCKED_BY_DOUBT = ["not_applied", "held", true, "committed", undefined];

const BEHIND_PRUNED = ["committed", "committed", "committed", "drift", "drift"];

describe.each(STORES)("lanes in %s", (name) => {
  let ground: Ground | undefined;
  beforeAll(async () => {
    ground = await findGround(name);
  });
  afterAll(() => ground?.stop());

  test("writes to one resource go one at a time, and no change is lost", async (context) => {
    if (!ground) return context.skip();
    const place = await ground.ledger(0);
    const { tags, most, told, left } = await crowd(() => openPlace(place), true);
    expect(told).toEqual(new Set(["committed"]));
    expect(most).toBe(1);
    expect(new Set(tags).size).toBe(ALL);
    expect(left).toBeUndefined();
  });

  test("another run that drifts is held", async (context) => {
    if (!ground) return context.skip();
    const place = await ground.ledger(1);
    expect(await drift(() => openPlace(place))).toEqual(["committed", "drift"]);
  });

  test("one that waits behind those that are pruned holds the next", async (context) => {
    if (!ground) return context.skip();
    const place = await ground.ledger(0);
    expect(await driftBehindPruned(await openPlace(place))).toEqual(BEHIND_PRUNED);
  });

  test("what becomes unknown after it was settled is in its lane again", async (context) => {
    if (!ground) return context.skip();
    const place = await ground.ledger(1);
    expect(await doubtAfterwards(() => openPlace(place))).toEqual(BLOCKED_BY_DOUBT);
  });

  test("without a resource they go at once, and changes are lost", async (context) => {
    if (!ground) return context.skip();
    const place = await ground.ledger(0);
    const { tags, most } = await crowd(() => openPlace(place), false);
    expect(most).toBeGreaterThan(1);
    expect(tags.length).toBeLessThan(ALL);
  });
});

const cluster = (await canStartRedis()) ? await startCluster() : undefined;

describe.runIf(cluster)("lanes in a Redis cluster, where they have a slot of their own", () => {
  afterAll(() => cluster?.stop());

  const nodes = (cluster?.ports ?? []).map((port) => ({ host: "127.0.0.1", port }));
  const opener = () => {
    const prefix = `hf:${randomUUID().slice(0, 8)}`;
    return async (): Promise<Opened> => {
      const client = new Redis.Cluster(nodes, { lazyConnect: true });
      await client.connect();
      const store = redisStore({ client, prefix, forgets: "accepted" });
      return { store, end: async () => client.disconnect() };
    };
  };

  test("writes to one resource go one at a time, and no change is lost", async () => {
    const { tags, most, told } = await crowd(opener(), true);
    expect(told).toEqual(new Set(["committed"]));
    expect(most).toBe(1);
    expect(new Set(tags).size).toBe(ALL);
  });

  test("another run that drifts is held", async () => {
    expect(await drift(opener())).toEqual(["committed", "drift"]);
  });

  test("one that waits behind those that are pruned holds the next", async () => {
    expect(await driftBehindPruned(await opener()())).toEqual(BEHIND_PRUNED);
  });

  test("what becomes unknown after it was settled is in its lane again", async () => {
    expect(await doubtAfterwards(opener())).toEqual(BLOCKED_BY_DOUBT);
  });

  test("one that is there already is claimed again: rejected, and unknown", async () => {
    const { store, end } = await opener()();
    let swaps = 0;
    const counted: Store = {
      ...store,
      get promise() {
        return store.promise;
      },
      swap(change) {
        swaps += 1;
        return store.swap(change);
      },
    };
    const hf = createHoldfire({ store: counted, witness: memoryWitness() });
    let error: Error | undefined;
    const tool = hf.tool({
      name: "set_title",
      kind: "write",
      attempts: 1,
      deadlineMs: 3_000,
      keyed: { forMs: 60_000 },
      resource: ({ issue }: { readonly issue: string }) => issue,
      run: async (_, { key }) => {
        if (error) throw error;
        return key;
      },
    });
    for (const [issue, first] of [
      ["issue/1", notApplied("locked")],
      ["issue/2", new Error("lost")],
    ] as const) {
      const scope = { scope: issue };
      error = first;
      expect((await tool.outcome({ issue }, scope)).status).not.toBe("committed");
      error = undefined;
      swaps = 0;
      const again = await tool.outcome({ issue }, { ...scope, retry: "asked again" });
      expect(again).toMatchObject({ status: "committed", replayed: false });
      expect(swaps).toBeLessThan(20);
    }
    await hf.close();
    await end();
  });
});
