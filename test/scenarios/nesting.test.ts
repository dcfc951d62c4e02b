import { describe, expect, test } from "vitest";
import { NotAppliedError, OutcomeUnknownError } from "../../src/errors.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { type Order, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };
/** No fault, for the first of two requests. */
const WELL = faults.status({ status: 201, commit: true, body: { id: "ef_1" } });

describe("an operation inside an attempt of another", () => {
  test("takes the outer operation's id as its scope: run again, the inner one is replayed", async () => {
    const { service, order, hf, pass } = await openWorld();
    const inner = order("neither");
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      keyed: { forMs: 86_400_000 },
      run: async (args: Order, { key, attempt }) => {
        const made = await inner(args);
        if (attempt === 1) throw new Error(`lost ${key}`);
        return made.id;
      },
    });
    const outcome = await pass(outer.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({
      status: "committed",
      attempts: 2,
      result: service.effects[0]?.effectId,
    });
    expect(service.effects).toHaveLength(1);
    const { items } = await hf.operations.list({ tool: "order_neither" });
    expect(items).toHaveLength(1);
    expect(items[0]?.scope).toContain(outcome.id);
  });

  test("order plays no part: two inner operations are told apart by their intents", async () => {
    const { service, order, hf, pass } = await openWorld();
    const inner = order("neither");
    let flip = false;
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      run: async (_: { n: number }) => {
        const items = flip ? ["milk", "tea"] : ["tea", "milk"];
        for (const item of items) await inner({ item });
        if (!flip) throw new OutcomeUnknownError({ tool: "x", id: "x", key: "x" }, "lost_reply");
        return "done";
      },
    });
    await pass(outer.outcome({ n: 1 }, ONCE));
    flip = true;
    await pass(outer.outcome({ n: 1 }, ONCE));
    expect(service.effects).toHaveLength(2);
  });

  test("the same inner call in two outer operations is two operations", async () => {
    const { service, order, hf, pass } = await openWorld();
    const inner = order("neither");
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      run: async (_: { n: number }) => (await inner(TEA)).id,
    });
    await pass(outer({ n: 1 }, ONCE));
    await pass(outer({ n: 2 }, ONCE));
    expect(service.effects).toHaveLength(2);
  });

  test("its failure passes up untouched", async () => {
    const { service, order, hf, pass } = await openWorld();
    service.plan(faults.status({ status: 404 }));
    const inner = order("neither");
    let seen: unknown;
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      run: async (args: Order) => {
        try {
          return await inner(args);
        } catch (error) {
          seen = error;
          throw error;
        }
      },
    });
    const outcome = await pass(outer.outcome(TEA, ONCE));
    expect(seen).toBeInstanceOf(NotAppliedError);
    expect(outcome).toMatchObject({ error: seen });
    const thrown = await pass(outer(TEA, { scope: "s2" }).catch((error: unknown) => error));
    expect(thrown).toMatchObject({ id: expect.any(String) });
  });
});

describe("what an outer operation may say", () => {
  test("with an inner one committed it is never not applied: unknown, partial", async () => {
    const { service, order, hf, pass, client } = await openWorld();
    const inner = order("neither");
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      run: async (args: Order) => {
        await inner(args);
        service.plan(faults.status({ status: 404 }));
        return client("neither").create({ item: "own request" });
      },
    });
    const outcome = await pass(outer.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "partial" });
    expect(service.effects).toHaveLength(1);
  });

  test("with an inner one unknown it is unknown, partial", async () => {
    const { service, order, hf, pass } = await openWorld();
    service.plan(faults.commitThenReset());
    const inner = order("neither");
    const outer = hf.tool({ name: "outer", kind: "write", run: (args: Order) => inner(args) });
    const outcome = await pass(outer.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "partial", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });

  test("with one still pending it is unknown, partial", async () => {
    const { order, hf, pass } = await openWorld();
    const inner = order("neither", { run: () => new Promise(() => {}) });
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      run: async (args: Order) => {
        void inner.outcome(args);
        throw new Error("gave up");
      },
    });
    const outcome = await pass(outer.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "partial" });
  });

  test("with an inner one certainly not applied, and nothing else, it is not applied", async () => {
    const { service, order, hf, pass } = await openWorld();
    service.plan(faults.status({ status: 404 }));
    const inner = order("neither");
    const outer = hf.tool({ name: "outer", kind: "write", run: (args: Order) => inner(args) });
    const outcome = await pass(outer.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "not_applied" });
    expect(service.arrivals).toHaveLength(1);
  });

  test("an inner failure does not make it fire again in the same call", async () => {
    const { service, order, hf, pass } = await openWorld();
    service.always(faults.status({ status: 429 }));
    const inner = order("neither", { refuses: [429], attempts: 2 });
    let runs = 0;
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      run: (args: Order) => {
        runs += 1;
        return inner(args);
      },
    });
    expect(await pass(outer.outcome(TEA, ONCE))).toMatchObject({ status: "not_applied" });
    expect(runs).toBe(1);
    expect(service.arrivals).toHaveLength(2);
  });

  test("a later call fires it again if all it does are inner operations: what was done is replayed", async () => {
    const { service, order, hf, pass, clock } = await openWorld();
    const first = order("neither", { name: "first" });
    const second = order("neither", { name: "second", refuses: [429], attempts: 1 });
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      via: "http",
      run: async (_: { n: number }) => [await first(TEA), await second(TEA)].length,
    });
    service.plan(WELL, faults.status({ status: 429 }));
    const half = await pass(outer.outcome({ n: 1 }, ONCE));
    expect(half).toMatchObject({ status: "unknown", reason: "partial" });
    await clock.advance(60_000);
    const whole = await pass(outer.outcome({ n: 1 }, ONCE));
    expect(whole).toMatchObject({ status: "committed", result: 2 });
    expect(service.effects).toHaveLength(2);
    expect(service.arrivals).toHaveLength(3);
  });

  describe("while it is open, what was done inside it is not pruned, however old", () => {
    const DAY_MS = 86_400_000;
    const ALL = { tombstonesOlderThanMs: DAY_MS };

    test.each(["in the scope of the outer one", "in a scope of its own"])("%s", async (where) => {
      const { service, order, hf, pass, clock } = await openWorld();
      const first = order("neither", { name: "first" });
      const second = order("neither", { name: "second", refuses: [429], attempts: 1 });
      const other = order("neither", { name: "other" });
      const inside = <T>(fn: () => Promise<T>) =>
        where === "in a scope of its own" ? hf.scope("step", fn) : fn();
      const outer = hf.tool({
        name: "outer",
        kind: "write",
        via: "http",
        run: (_: { n: number }) => inside(async () => [await first(TEA), await second(TEA)].length),
      });
      await pass(other.outcome(TEA, { scope: "before" }));
      await clock.advance(5 * DAY_MS);
      service.plan(WELL, faults.status({ status: 429 }));
      expect(await pass(outer.outcome({ n: 1 }, ONCE))).toMatchObject({ status: "unknown" });
      await clock.advance(3 * DAY_MS);
      // What was settled long before it is.
      expect(await pass(hf.prune(ALL))).toMatchObject({ tombstones: 1 });
      expect(await pass(outer.outcome({ n: 1 }, ONCE))).toMatchObject({ status: "committed" });
      // "other", "first", and "second" twice: refused, then done.
      expect(service.arrivals).toHaveLength(4);
      await clock.advance(3 * DAY_MS);
      expect(await pass(hf.prune(ALL))).toMatchObject({ tombstones: 3 });
    });

    test("also where an attempt of it has not ended", async () => {
      const { order, hf, clock, pass } = await openWorld();
      const first = order("neither", { name: "first" });
      const outer = hf.tool({
        name: "outer",
        kind: "write",
        deadlineMs: 1_000,
        run: async (_: { n: number }) => {
          await first(TEA);
          return new Promise<never>(() => {});
        },
      });
      expect(await pass(outer.outcome({ n: 1 }, ONCE))).toMatchObject({ status: "in_progress" });
      await clock.advance(3 * DAY_MS);
      expect(await pass(hf.prune(ALL))).toMatchObject({ tombstones: 0 });
    });
  });

  describe('without via: "http", what it did beside them was not seen: no later call fires it again', () => {
    /** A booking in an embedded database, which is not seen, and inner operations after it. */
    async function bookingThen(...inner: readonly string[]) {
      const world = await openWorld();
      const { hf, order, pass, clock } = world;
      const rows: string[] = [];
      const tools = inner.map((name) => order("neither", { name, refuses: [429], attempts: 1 }));
      const outer = hf.tool({
        name: "outer",
        kind: "write",
        run: async (args: Order) => {
          rows.push(args.item);
          for (const tool of tools) await tool(args);
        },
      });
      const twice = async () => {
        const first = await pass(outer.outcome(TEA, ONCE));
        await clock.advance(60_000);
        return [first, await pass(outer.outcome(TEA, ONCE))] as const;
      };
      return { ...world, rows, twice };
    }

    test("after an inner one that was not applied", async () => {
      const { service, rows, twice } = await bookingThen("notify");
      service.always(faults.status({ status: 429 }));
      const [first, again] = await twice();
      expect(first).toMatchObject({
        status: "not_applied",
        reason: "not_sent",
        because:
          "An operation inside it was not applied. What else it did, if anything, was not seen.",
      });
      expect(again).toMatchObject({ status: "not_applied", replayed: true });
      expect(rows).toEqual(["tea"]);
    });

    test("after one that happened and one that did not", async () => {
      const { service, rows, twice } = await bookingThen("pay", "notify");
      service.plan(WELL, faults.status({ status: 429 }));
      const [first, again] = await twice();
      expect(first).toMatchObject({ status: "unknown", reason: "partial" });
      expect(again).toMatchObject({ status: "unknown", reason: "partial" });
      expect(rows).toEqual(["tea"]);
    });
  });

  test("with a request of its own it is not fired again", async () => {
    const { service, order, hf, pass, clock, client } = await openWorld();
    const inner = order("neither", { refuses: [429], attempts: 1 });
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      run: async (args: Order) => {
        await client("neither").create({ item: "its own" });
        return inner(args);
      },
    });
    service.plan(WELL, faults.status({ status: 429 }));
    await pass(outer.outcome(TEA, ONCE));
    await clock.advance(60_000);
    const again = await pass(outer.outcome(TEA, ONCE));
    expect(again).toMatchObject({ status: "unknown" });
    expect(service.arrivals).toHaveLength(2);
  });

  test("an inner failure it has dealt with does not stain its success", async () => {
    const { service, order, hf, pass } = await openWorld();
    service.plan(faults.status({ status: 404 }));
    const inner = order("neither");
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      run: async (args: Order) => (await inner.outcome(args)).status,
    });
    const outcome = await pass(outer.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", result: "not_applied" });
  });
});

describe("who counts what", () => {
  test("an inner operation's requests are not the outer one's", async () => {
    const { order, hf, pass, client } = await openWorld();
    const inner = order("neither");
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      run: async (args: Order) => {
        await inner(args);
        await inner({ item: "milk" });
        return client("neither").create({ item: "its own" });
      },
    });
    const outcome = await pass(outer.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", wireRequests: 1 });
  });

  test("what a reader or `verify` does is nobody's attempt and no inner operation", async () => {
    const { service, order, hf, pass, client } = await openWorld();
    service.plan(faults.commitThenReset());
    const look = hf.tool({
      name: "look",
      kind: "read",
      run: ({ key }: { key: string }) => client("readable").find({ key }),
    });
    const readable = order("readable", {
      readState: async ({ key }) => {
        const [found] = await look({ key });
        return found ? { reading: "committed", result: found } : { reading: "absent" };
      },
    });
    const outcome = await pass(readable.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", wireRequests: 1, attempts: 1 });
  });

  test("a read inside an attempt is no inner operation", async () => {
    const { service, hf, pass, client } = await openWorld();
    const look = hf.tool({
      name: "look",
      kind: "read",
      run: (_: { n: number }) => client("readable").find({}),
    });
    service.plan(faults.status({ status: 404 }));
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      run: async (args: Order) => {
        await look({ n: 1 });
        return client("neither").create(args);
      },
    });
    expect(await pass(outer.outcome(TEA, ONCE))).toMatchObject({
      status: "not_applied",
      reason: "rejected",
    });
  });
});
