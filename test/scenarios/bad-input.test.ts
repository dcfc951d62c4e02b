import { describe, expect, test } from "vitest";
import {
  ClosedError,
  InvalidInputError,
  MissingScopeError,
  VolatileIntentError,
} from "../../src/errors.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { openWorld, TEA, type World } from "./world.ts";

const ONCE = { scope: "s" };

/** A tool that takes anything, and counts its runs. */
function anything({ hf }: World, options: object = {}) {
  const runs: unknown[] = [];
  const tool = hf.tool({
    name: "anything",
    kind: "write",
    ...options,
    run: async (args: unknown) => {
      runs.push(args);
      return "ran";
    },
  });
  return { tool, runs };
}

describe("before anything is sent or claimed", () => {
  test("a write without a scope is refused, and told what to pass", async () => {
    const world = await openWorld();
    const { tool, runs } = anything(world);
    const call = world.pass(tool(TEA));
    await expect(call).rejects.toBeInstanceOf(MissingScopeError);
    await expect(call).rejects.toThrow(/scope: .*hf\.scope/);
    expect(runs).toEqual([]);
  });

  test.each([
    ["NaN", { n: Number.NaN }],
    ["Infinity", { n: Number.POSITIVE_INFINITY }],
    ["a bigint", { n: 1n }],
    ["a Map", { n: new Map() }],
    ["a Set", { n: new Set() }],
    ["a Date", { n: new Date(0) }],
    ["an instance of a class", { n: new URL("http://a.b") }],
    ["a function", { n: () => 1 }],
    ["a symbol", { n: Symbol("s") }],
    ["undefined in an array", { n: [undefined] }],
    ["a hole in an array", { n: new Array(2) }],
    ["a lone surrogate", { n: "\ud800" }],
    [
      "a getter",
      {
        get n() {
          return 1;
        },
      },
    ],
    ["nesting without end", JSON.parse(`${'{"n":'.repeat(100)}1${"}".repeat(100)}`)],
  ])("%s in the arguments is refused, by its path", async (_, args) => {
    const world = await openWorld();
    const { tool, runs } = anything(world);
    const call = world.pass(tool(args, ONCE));
    await expect(call).rejects.toBeInstanceOf(InvalidInputError);
    await expect(call).rejects.toMatchObject({ path: expect.stringMatching(/^args\.n/) });
    expect(runs).toEqual([]);
    expect((await world.hf.operations.list()).items).toEqual([]);
  });

  test("an argument that contains itself is refused", async () => {
    const world = await openWorld();
    const { tool, runs } = anything(world);
    const args: { self?: unknown } = {};
    args.self = args;
    await expect(world.pass(tool(args, ONCE))).rejects.toThrow("must not contain itself");
    expect(runs).toEqual([]);
  });

  test("an intent that is not JSON is refused", async () => {
    const world = await openWorld();
    const { tool, runs } = anything(world, { intent: () => new Map() });
    await expect(world.pass(tool(TEA, ONCE))).rejects.toMatchObject({ path: "intent" });
    expect(runs).toEqual([]);
  });

  test("-0 is 0, and an undefined field is no field", async () => {
    const world = await openWorld();
    const { tool, runs } = anything(world);
    await world.pass(tool({ n: -0, m: undefined }, ONCE));
    await world.pass(tool({ n: 0 }, ONCE));
    expect(runs).toEqual([{ n: 0 }]);
  });

  test.each(["call_9f8e7d", "toolu_01A09q90qw90lq917835lq9", "chatcmpl-abc123def456"])(
    "a tool-call id in the intent is refused: %s",
    async (id) => {
      const world = await openWorld();
      const { tool, runs } = anything(world);
      const call = world.pass(tool({ about: { id } }, ONCE));
      await expect(call).rejects.toBeInstanceOf(VolatileIntentError);
      await expect(call).rejects.toMatchObject({ path: "intent.about.id" });
      expect(runs).toEqual([]);
    },
  );

  test("the id of this very call in the intent is refused, whatever its shape", async () => {
    const world = await openWorld();
    const { tool, runs } = anything(world);
    const call = tool({ id: "run-77-abc" }, { ...ONCE, aliases: ["run-77-abc"] });
    await expect(world.pass(call)).rejects.toBeInstanceOf(VolatileIntentError);
    expect(runs).toEqual([]);
  });

  test.each([
    ["an option nobody knows", { scope: "s", retires: 3 }, "options.retires"],
    ["a negative deadline", { scope: "s", deadlineMs: -1 }, "options.deadlineMs"],
    ["a deadline of zero", { scope: "s", deadlineMs: 0 }, "options.deadlineMs"],
    ["a deadline that is no number", { scope: "s", deadlineMs: Number.NaN }, "options.deadlineMs"],
    ["a signal that is a word", { scope: "s", signal: "stop" }, "options.signal"],
    ["null for a signal", { scope: "s", signal: null }, "options.signal"],
    [
      "a signal to which nobody can listen",
      { scope: "s", signal: { aborted: false } },
      "options.signal",
    ],
    [
      "an emitter in place of a signal",
      { scope: "s", signal: new EventTarget() },
      "options.signal",
    ],
    ["an endless deadline", { scope: "s", deadlineMs: 1e12 }, "options.deadlineMs"],
    ["an empty scope", { scope: "" }, "scope"],
    ["a scope with white space around it", { scope: " s" }, "scope"],
    ["a scope with a control character", { scope: "a\u001fb" }, "scope"],
    ["a scope that is too long", { scope: "s".repeat(513) }, "scope"],
    ["an empty again", { scope: "s", again: "" }, "again"],
    ["an alias that is no text", { scope: "s", aliases: [7] }, "alias"],
  ])("%s is refused", async (_, options, path) => {
    const world = await openWorld();
    const { tool, runs } = anything(world);
    const call = world.pass(tool(TEA, options as object));
    await expect(call).rejects.toMatchObject({ code: "ERR_HOLDFIRE_INVALID_INPUT", path });
    expect(runs).toEqual([]);
  });

  test("options that are no object are refused", async () => {
    const world = await openWorld();
    const { tool, runs } = anything(world);
    await expect(world.pass(tool(TEA, "s" as never))).rejects.toBeInstanceOf(InvalidInputError);
    await expect(world.pass(tool(TEA, null as never))).rejects.toBeInstanceOf(InvalidInputError);
    expect(runs).toEqual([]);
  });

  test("a caller's key is checked, never trimmed", async () => {
    const { hf, pass } = await openWorld();
    const call = (key: string) =>
      pass(hf.run({ name: "once", kind: "write", key, args: {}, run: async (_: object) => 1 }));
    await expect(call(" padded ")).rejects.toMatchObject({ path: "key" });
    await expect(call("line\nbreak")).rejects.toMatchObject({ path: "key" });
    await expect(call("k".repeat(256))).rejects.toMatchObject({ path: "key" });
    await expect(call("")).rejects.toMatchObject({ path: "key" });
  });

  test("a resource that is no name is refused", async () => {
    const world = await openWorld();
    const { tool, runs } = anything(world, { resource: () => "" });
    await expect(world.pass(tool(TEA, ONCE))).rejects.toMatchObject({ path: "resource" });
    expect(runs).toEqual([]);
  });

  test("a store that may forget refuses writes that could not be recognised or read later", async () => {
    const { order, pass, another, service } = await openWorld();
    const forgetful = another({ store: memoryStore() });
    const call = pass(order("neither", {}, forgetful)(TEA, ONCE));
    await expect(call).rejects.toThrow("may forget");
    await expect(call).rejects.toBeInstanceOf(InvalidInputError);
    expect(await pass(order("keyed", {}, forgetful).outcome(TEA, ONCE))).toMatchObject({
      status: "committed",
    });
    expect(await pass(order("readable", {}, forgetful).outcome(TEA, ONCE))).toMatchObject({
      status: "committed",
    });
    expect(service.arrivals).toHaveLength(2);
  });

  test("a closed holdfire takes no calls", async () => {
    const { order, pass, hf, service } = await openWorld();
    const mail = order("neither");
    await pass(hf.close());
    await expect(pass(mail(TEA, ONCE))).rejects.toBeInstanceOf(ClosedError);
    expect(() => order("keyed")).toThrow(ClosedError);
    expect(service.arrivals).toHaveLength(0);
  });
});

describe("a schema", () => {
  const schema = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: async (value: unknown) =>
        typeof (value as { amount?: unknown }).amount === "string"
          ? { value: { amount: Number((value as { amount: string }).amount) } }
          : { issues: [{ message: "expected text", path: ["amount", { key: 0 }] }] },
    },
  } as const;

  test("refuses arguments by path, before anything is sent", async () => {
    const { hf, pass } = await openWorld();
    let runs = 0;
    const tool = hf.tool({
      name: "pay",
      kind: "write",
      input: schema,
      run: async ({ amount }) => {
        runs += 1;
        return amount;
      },
    });
    const call = pass(tool({ amount: 4 }, ONCE));
    await expect(call).rejects.toMatchObject({ path: "args.amount.0" });
    expect(runs).toBe(0);
  });

  test("gives its output to the run and to the key", async () => {
    const { hf, pass } = await openWorld();
    const tool = hf.tool({
      name: "pay",
      kind: "write",
      input: schema,
      run: async ({ amount }) => amount + 1,
    });
    expect(await pass(tool({ amount: "4" } as never, ONCE))).toBe(5);
    const again = await pass(tool.outcome({ amount: "4.0" } as never, ONCE));
    expect(again).toMatchObject({ replayed: true, result: 5 });
  });
});

describe("scopes", () => {
  test("ambient: everything called inside belongs to it", async () => {
    const { service, order, pass, hf } = await openWorld();
    const mail = order("neither");
    const first = await pass(hf.scope("s", () => mail.outcome(TEA)));
    const second = await pass(mail.outcome(TEA, ONCE));
    expect(second).toMatchObject({ id: first.id, replayed: true });
    expect(service.arrivals).toHaveLength(1);
  });

  test("it follows the asynchronous work", async () => {
    const { order, pass, hf } = await openWorld();
    const mail = order("neither");
    const first = await pass(
      hf.scope("s", async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return mail.outcome(TEA);
      }),
    );
    expect(await pass(mail.outcome(TEA, ONCE))).toMatchObject({ id: first.id });
  });

  test("explicit replaces ambient", async () => {
    const { order, pass, hf } = await openWorld();
    const mail = order("neither");
    const inside = await pass(hf.scope("outer", () => mail.outcome(TEA, ONCE)));
    expect(await pass(mail.outcome(TEA, ONCE))).toMatchObject({ id: inside.id, replayed: true });
  });

  test("nested appends a segment, and is never another scope that spells the same", async () => {
    const { order, pass, hf } = await openWorld();
    const mail = order("neither");
    const nested = await pass(hf.scope("a", () => hf.scope("b", () => mail.outcome(TEA))));
    const flat = await pass(hf.scope("a/b", () => mail.outcome(TEA)));
    const outer = await pass(hf.scope("a", () => mail.outcome(TEA)));
    expect(new Set([nested.id, flat.id, outer.id]).size).toBe(3);
    const view = await hf.operations.get(nested.id);
    expect(view?.scope).toBe("a › b");
  });
});
