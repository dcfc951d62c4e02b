import { beforeEach, describe, expect, test } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { type VirtualClock, virtualClock } from "./virtual-clock.ts";

let clock: VirtualClock;
let hf: Holdfire;

beforeEach(async () => {
  clock = virtualClock();
  const store = memoryStore({ now: clock.now, forgets: "accepted" });
  hf = createHoldfire({ store, surroundings: { clock } });
  const done = hf.tool({
    name: "done",
    kind: "write",
    resource: ({ item }: { item: string }) => `stock/${item}`,
    run: async ({ item }: { item: string }) => item,
  });
  const lost = hf.tool({
    name: "lost",
    kind: "write",
    run: (_: { item: string }) => Promise.reject(new Error("lost")),
  });
  await clock.run(done({ item: "tea" }, { scope: "a", aliases: ["call_1"] }));
  await clock.advance(1_000);
  await clock.run(done({ item: "milk" }, { scope: "b" }));
  await clock.run(lost.outcome({ item: "tea" }, { scope: "a" }));
});

describe("a look into the ledger", () => {
  test("lists in the order of creation", async () => {
    const { items, cursor } = await hf.operations.list();
    expect(items.map(({ tool, status }) => `${tool} ${status}`)).toEqual([
      "done committed",
      "done committed",
      "lost unknown",
    ]);
    expect(cursor).toBeUndefined();
  });

  test.each([
    [{ open: true }, ["lost"]],
    [{ status: ["committed"] as const }, ["done", "done"]],
    [{ status: ["committed"] as const, open: true }, ["done", "done"]],
    [{ tool: "lost" }, ["lost"]],
    [{ scope: "a" }, ["done", "lost"]],
    [{ resource: "stock/milk" }, ["done"]],
    [{ since: 1_700_000_000_500 }, ["done", "lost"]],
    [{ until: 1_700_000_000_500 }, ["done"]],
    [{ limit: 1 }, ["done"]],
  ])("by %j", async (query, tools) => {
    const { items } = await hf.operations.list(query);
    expect(items.map(({ tool }) => tool)).toEqual(tools);
  });

  test("gives nothing that others share: who changes it changes no other record", async () => {
    const [first] = (await hf.operations.list({ scope: "b" })).items;
    const aliases = first?.aliases as string[];
    expect(aliases).toEqual([]);
    expect(() => aliases.push("call_9")).toThrow(TypeError);
  });

  test("a page at a time", async () => {
    const first = await hf.operations.list({ limit: 2 });
    expect(first.items).toHaveLength(2);
    const second = await hf.operations.list({ limit: 2, cursor: first.cursor });
    expect(second.items.map(({ tool }) => tool)).toEqual(["lost"]);
    await expect(hf.operations.list({ cursor: "nonsense" })).rejects.toThrow();
  });

  test("shows what a person needs, and neither arguments nor results", async () => {
    const [done, , lost] = (await hf.operations.list()).items;
    expect(done).toMatchObject({
      tool: "done",
      scope: "a",
      status: "committed",
      open: false,
      resource: "stock/tea",
      aliases: ["call_1"],
      attempts: [{ n: 1, licence: "first", verdict: "committed" }],
      evidence: [],
    });
    expect(lost).toMatchObject({ status: "unknown", reason: "run_failed", open: true });
    expect(Object.keys(done ?? {})).not.toContain("intent");
    expect(JSON.stringify(lost)).not.toContain("tea");
  });

  test("gets one by its id, and nothing by another", async () => {
    const [done] = (await hf.operations.list()).items;
    expect(await hf.operations.get(done?.id ?? "")).toEqual(done);
    expect(await hf.operations.get("nobody")).toBeUndefined();
  });
});
