import { describe, expect, test } from "vitest";
import { createHoldfire, type HoldfireOptions } from "../src/create.ts";
import { InvalidInputError } from "../src/errors.ts";
import { memoryStore } from "../src/stores/memory.ts";
import { virtualClock } from "./engine/virtual-clock.ts";
import { EVENT_NAMES } from "./observe/heard.ts";

const ONCE = { scope: "s" };

function holdfire(options: Partial<HoldfireOptions> = {}) {
  const clock = virtualClock();
  const store = memoryStore({ now: clock.now, forgets: "accepted" });
  const hf = createHoldfire({ store, surroundings: { clock, random: () => 0.5 }, ...options });
  return { clock, hf, store };
}

describe("createHoldfire", () => {
  test.each([
    ["an object that is none", {}],
    ["a path", "ledger.db"],
    ["a function", () => memoryStore()],
  ])("refuses %s as a store, and says what to pass", (_, store) => {
    const create = () => createHoldfire({ store: store as never });
    expect(create).toThrow(InvalidInputError);
    expect(create).toThrow("must be a store, e.g. memoryStore()");
  });

  test.each([null, "memory", 7])("refuses %j as options", (options) => {
    expect(() => createHoldfire(options as never)).toThrow(InvalidInputError);
  });

  test.each([
    [{ stroe: 1 }, "options.stroe"],
    [{ retry: { attempt: 3 } }, "retry.attempt"],
    [{ retry: { attempts: 0 } }, "retry.attempts"],
    [{ retry: { leaseMs: -1 } }, "retry.leaseMs"],
    [{ approvals: { expiryMS: 1 } }, "approvals.expiryMS"],
    [{ approvals: { expiryMs: 0 } }, "approvals.expiryMs"],
    [{ surroundings: { clokc: 1 } }, "surroundings.clokc"],
    [{ payloads: { maxBytes: 0 } }, "maxBytes"],
    [{ tenant: "" }, "tenant"],
    [{ onHiddenRetry: "explode" }, "onHiddenRetry"],
  ])("refuses %j", (options, path) => {
    const store = memoryStore();
    expect(() => createHoldfire({ store, ...(options as object) })).toThrow(InvalidInputError);
    expect(() => createHoldfire({ store, ...(options as object) })).toThrow(path);
  });

  test("touches the store with the first call, not before", async () => {
    let opened = 0;
    const store = memoryStore({ forgets: "accepted" });
    const { open } = store;
    const counted = {
      ...store,
      open: () => {
        opened += 1;
        return open();
      },
    };
    const { hf, clock } = holdfire({ store: counted });
    const tool = hf.tool({ name: "t", kind: "write", run: async (_: object) => 1 });
    expect(opened).toBe(0);
    await clock.run(Promise.all([tool({ n: 1 }, ONCE), tool({ n: 2 }, ONCE)]));
    expect(opened).toBe(1);
  });

  test("`retry.attempts` is for writes that say nothing of their own", async () => {
    const { hf, clock } = holdfire({ retry: { attempts: 2 } });
    const runs = { own: 0, none: 0, read: 0 };
    const fail = (name: keyof typeof runs) => async (_: object) => {
      runs[name] += 1;
      throw new Error("not sent");
    };
    const classify = () => "not_sent" as const;
    const own = hf.tool({ name: "own", kind: "write", attempts: 4, classify, run: fail("own") });
    const none = hf.tool({ name: "none", kind: "write", classify, run: fail("none") });
    const read = hf.tool({ name: "read", kind: "read", run: fail("read") });
    await clock.run(Promise.all([own.outcome({}, ONCE), none.outcome({}, ONCE), read.outcome({})]));
    expect(runs).toEqual({ own: 4, none: 2, read: 4 });
  });

  test("refuses a second tool of one name and another kind", () => {
    const { hf } = holdfire();
    hf.tool({ name: "t", kind: "write", run: async (_: object) => 1 });
    const other = () => hf.tool({ name: "t", kind: "read", run: async () => 1 });
    expect(other).toThrow('a tool of this name is "write"');
  });

  test("a listener hears until it stops", async () => {
    const { hf, clock } = holdfire();
    let heard = 0;
    const stop = hf.on("outcome", ({ status }) => {
      if (status === "committed") heard += 1;
    });
    const tool = hf.tool({ name: "t", kind: "write", run: async (_: object) => 1 });
    await clock.run(tool({ n: 1 }, ONCE));
    stop();
    await clock.run(tool({ n: 2 }, ONCE));
    expect(heard).toBe(1);
  });

  test("the tool carries its name", () => {
    const { hf } = holdfire();
    expect(hf.tool({ name: "t", kind: "read", run: async (_: object) => 1 }).toolName).toBe("t");
  });

  test("events name tenant and scope, and carry neither arguments nor results", async () => {
    const { hf, clock } = holdfire({ tenant: "acme" });
    const events: unknown[] = [];
    for (const name of EVENT_NAMES) hf.on(name, (event) => events.push(event));
    const tool = hf.tool({
      name: "t",
      kind: "write",
      run: async (_: { card: string }) => ({ secret: "canary-4711" }),
    });
    await clock.run(tool({ card: "canary-4711" }, ONCE));
    await clock.run(tool({ card: "canary-4711" }, ONCE));
    // Twice taken up and told, once fired and judged.
    expect(events).toHaveLength(6);
    expect(JSON.stringify(events)).not.toContain("canary-4711");
    expect(events.every((event) => (event as { tenant: string }).tenant === "acme")).toBe(true);
  });
});

describe("payloads", () => {
  test("are redacted before they are kept, and the caller gets the whole result", async () => {
    const redact = (value: unknown) => ({ ...(value as object), secret: "***" });
    const { hf, clock } = holdfire({ payloads: { redact } });
    const tool = hf.tool({
      name: "t",
      kind: "write",
      run: async (_: object) => ({ id: 1, secret: "canary-4711" }),
    });
    expect(await clock.run(tool({}, ONCE))).toEqual({ id: 1, secret: "canary-4711" });
    expect(await clock.run(tool({}, ONCE))).toEqual({ id: 1, secret: "***" });
  });

  test("are sealed where keys are given: the store never sees them", async () => {
    const keys = { k1: new Uint8Array(32).fill(7) };
    const { hf, clock, store } = holdfire({ payloads: { encryption: { keyId: "k1", keys } } });
    const tool = hf.tool({
      name: "t",
      kind: "write",
      run: async (_: { card: string }) => {
        const { items } = await store.list({ tenant: "default" });
        expect(JSON.stringify(items)).not.toContain("canary");
        return "canary-result";
      },
    });
    const { id } = await clock.run(tool.outcome({ card: "canary-argument" }, ONCE));
    const { stored } = await store.read("default", id);
    expect(JSON.stringify(stored)).not.toContain("canary");
    expect(await clock.run(tool({ card: "canary-argument" }, ONCE))).toBe("canary-result");
  });

  test("larger than the cap are not kept", async () => {
    const { hf, clock } = holdfire({ payloads: { maxBytes: 10 } });
    const tool = hf.tool({ name: "t", kind: "write", run: async (_: object) => "x".repeat(20) });
    await clock.run(tool({}, ONCE));
    expect(await clock.run(tool.outcome({}, ONCE))).toMatchObject({ resultLost: true });
  });

  test("the intent is wiped when the operation is settled, and kept while it is open", async () => {
    const { hf, clock, store } = holdfire();
    const lost = hf.tool({
      name: "lost",
      kind: "write",
      run: (_: object) => Promise.reject(new Error("lost")),
    });
    const done = hf.tool({ name: "done", kind: "write", run: async (_: object) => 1 });
    const open = await clock.run(lost.outcome({ n: 1 }, ONCE));
    const settled = await clock.run(done.outcome({ n: 1 }, ONCE));
    const intentOf = async (id: string) => (await store.read("default", id)).stored?.record.intent;
    expect(await intentOf(open.id)).toBeDefined();
    expect(await intentOf(settled.id)).toBeUndefined();
  });
});

describe("hf.prune", () => {
  test("wipes old results, keeps that they were committed, and never touches what is open", async () => {
    const { hf, clock } = holdfire();
    const done = hf.tool({ name: "done", kind: "write", run: async (_: object) => "made" });
    const lost = hf.tool({
      name: "lost",
      kind: "write",
      run: (_: object) => Promise.reject(new Error("lost")),
    });
    await clock.run(done.outcome({}, ONCE));
    const open = await clock.run(lost.outcome({}, ONCE));
    await clock.advance(31 * 24 * 3_600_000);
    expect(await hf.prune()).toEqual({ payloads: 1, tombstones: 0 });
    const again = await clock.run(done.outcome({}, ONCE));
    expect(again).toMatchObject({ status: "committed", replayed: true, resultLost: true });
    const gone = await hf.prune({ tombstonesOlderThanMs: 1_000 });
    expect(gone).toMatchObject({ tombstones: 1 });
    expect(await hf.operations.get(open.id)).toMatchObject({ status: "unknown" });
  });
});
