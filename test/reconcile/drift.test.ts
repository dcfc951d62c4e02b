import { describe, expect, test, vi } from "vitest";
import { absent, committed, duplicated } from "../../src/engine/define/reading.ts";
import { InvalidInputError } from "../../src/errors.ts";
import type { DriftReport } from "../../src/reconcile/drift-report.ts";
import { type EffectBody, faults, readFaults } from "../../src/testing/faulty-service.ts";
import { lookUp, type OrderOptions, openWorld, type World } from "../scenarios/world.ts";

const ONCE = { scope: "s" };

/** Orders these, one after the other, by a tool that names its effects. */
async function ordered(world: World, items: readonly string[], options: OrderOptions = {}) {
  const tool = world.order("readable", { effect: { id: idOf }, ...options });
  const outcomes = [];
  for (const item of items) outcomes.push(await world.pass(tool.outcome({ item }, ONCE)));
  await world.clock.advance(10_000);
  return outcomes;
}

const idOf = ({ id }: EffectBody): string => id;

/** All effects of the class, as the service lists them. */
const listAll =
  (world: World): NonNullable<NonNullable<OrderOptions["effect"]>["list"]> =>
  async () =>
    (await world.client("readable").find({})).map(({ id, key, at }) => ({ effectId: id, key, at }));

const kinds = ({ findings }: DriftReport): string[] =>
  findings.map(({ finding }) => finding).sort();

describe("what was committed", () => {
  test("and is as it was is no finding", async () => {
    const world = await openWorld();
    await ordered(world, ["a", "b"]);
    const report = await world.pass(world.hf.driftReport());
    expect(report).toMatchObject({ ended: "done", checked: 2, findings: [], notCompared: [] });
    expect(report.tools).toEqual([
      {
        tool: "order_readable",
        effects: "checked",
        changes: "not_checked",
        foreign: "not_checked",
      },
    ]);
  });

  test("and is not there is gone", async () => {
    const world = await openWorld();
    const [, b] = await ordered(world, ["a", "b"]);
    const find = lookUp(world.client("readable"));
    world.order("readable", {
      effect: { id: ({ id }) => id },
      readState: (query) => (query.key === b?.key ? absent() : find(query)),
    });
    const events = vi.fn();
    world.hf.on("drift", events);
    const { findings } = await world.pass(world.hf.driftReport());
    const effectId = world.service.effects[1]?.effectId;
    expect(findings).toEqual([
      { finding: "gone", tool: "order_readable", id: b?.id, key: b?.key, scope: "s", effectId },
    ]);
    const tool = "order_readable";
    const event = { tenant: "default", finding: "gone", tool, id: b?.id, effectId };
    expect(events.mock.calls).toEqual([[event]]);
  });

  test("and is there twice is duplicated, and the second effect is not foreign as well", async () => {
    const world = await openWorld();
    const [a] = await ordered(world, ["a"], { effect: { id: idOf, list: listAll(world) } });
    await world.client("readable").create({ item: "a" }, { key: a?.key });
    await world.clock.advance(1_000);
    const report = await world.pass(world.hf.driftReport());
    expect(report.findings).toMatchObject([{ finding: "duplicated", count: 2, id: a?.id }]);
    expect(report.tools).toMatchObject([{ foreign: "checked" }]);
  });

  test("twice, as the ledger itself knows, is duplicated even without a reader", async () => {
    const world = await openWorld();
    const tool = world.order("neither", { effect: { id: idOf }, attemptTimeoutMs: 1_000 });
    const [a] = [await world.pass(tool.outcome({ item: "a" }, ONCE))];
    const at = world.clock.now();
    const late = { attempt: 1, epoch: 1, at, verdict: "committed", effectId: "ef_late" } as const;
    const { stored } = await world.store.read("default", a.id);
    if (!stored) throw new Error("There is no record.");
    const record = { ...stored.record, evidence: [late] };
    const change = { tenant: "default", id: a.id, record, lease: "none" } as const;
    await world.store.swap({ ...change, expect: stored.version });
    await world.clock.advance(1_000);
    const { findings } = await world.pass(world.hf.driftReport());
    expect(findings).toMatchObject([{ finding: "duplicated", count: 2, id: a.id }]);
  });

  test("and is not the same has changed", async () => {
    const world = await openWorld();
    const asOrdered = lookUp(world.client("readable"));
    const readState: typeof asOrdered = async (query) => {
      const reading = await asOrdered(query);
      if (reading.reading !== "committed") return reading;
      const found: EffectBody = { ...reading.result, intent: { item: "other" } };
      return committed(found, { effectId: found.id });
    };
    const same = (one: EffectBody, other: EffectBody) =>
      JSON.stringify(one.intent) === JSON.stringify(other.intent);
    await ordered(world, ["a"], { effect: { id: idOf, same } });
    expect(kinds(await world.pass(world.hf.driftReport()))).toEqual([]);
    world.order("readable", { readState, effect: { same } });
    const report = await world.pass(world.hf.driftReport());
    expect(kinds(report)).toEqual(["changed"]);
    expect(report.tools).toMatchObject([{ changes: "checked" }]);
  });

  test("and stands under another effect id has changed, too", async () => {
    const world = await openWorld();
    await ordered(world, ["a"]);
    const readState = () => committed({} as EffectBody, { effectId: "ef_other" });
    world.order("readable", { readState });
    const { findings } = await world.pass(world.hf.driftReport());
    expect(findings).toMatchObject([{ finding: "changed", foundEffectId: "ef_other" }]);
    // A report takes nothing: the effect still belongs to nobody.
    const owner = await world.store.ownerOf("default", "order_readable", "ef_other");
    expect(owner).toBeUndefined();
  });

  test("cannot be compared by a reader that takes the intent, which is wiped", async () => {
    const world = await openWorld();
    const [a] = await ordered(world, ["a"]);
    const client = world.client("readable");
    const readState: OrderOptions["readState"] = async ({ intent }) => {
      const found = await client.find({ item: intent.item });
      return found.length > 1 ? duplicated(found) : absent();
    };
    world.order("readable", { readState });
    const { findings, notCompared } = await world.pass(world.hf.driftReport());
    expect(findings).toEqual([]);
    expect(notCompared).toMatchObject([{ id: a?.id, why: "intent_not_kept" }]);
  });

  test("cannot be compared while the reader may lag, hangs or throws", async () => {
    const world = await openWorld();
    const lagging = { commitsWithinMs: 60_000 };
    await ordered(world, ["a"], lagging);
    const why = async (options: OrderOptions): Promise<unknown> => {
      world.order("readable", options);
      const { findings, notCompared } = await world.pass(world.hf.driftReport());
      expect(findings).toEqual([]);
      return notCompared[0]?.why;
    };
    expect(await why({ ...lagging, readState: () => absent() })).toBe("too_fresh");
    expect(await why({ readState: () => new Promise(() => {}) })).toBe("late");
    expect(await why({ readState: () => Promise.reject(new Error("no")) })).toBe("failed");
    const same = () => Promise.reject(new Error("no"));
    expect(await why({ effect: { id: idOf, same } })).toBe("comparison_failed");
  });

  test("is not compared by another version of the tool", async () => {
    const world = await openWorld();
    await ordered(world, ["a"], { version: "1" });
    world.order("readable", { version: "2", readState: () => absent() });
    const { findings, notCompared } = await world.pass(world.hf.driftReport());
    expect(findings).toEqual([]);
    expect(notCompared).toMatchObject([{ why: "other_version" }]);
  });

  test("is only looked at: no record changes", async () => {
    const world = await openWorld();
    await ordered(world, ["a", "b"]);
    world.order("readable", { readState: () => absent() });
    const before = await world.store.list({ tenant: "default" });
    expect(kinds(await world.pass(world.hf.driftReport()))).toEqual(["gone", "gone"]);
    expect(await world.store.list({ tenant: "default" })).toEqual(before);
  });
});

describe("effects of nobody we know", () => {
  test("are foreign, each once", async () => {
    const world = await openWorld();
    const effect = { id: idOf, list: listAll(world) };
    await ordered(world, ["a"], { effect });
    // Another tool of the same service lists the same effects.
    world.order("readable", {
      name: "order_again",
      service: "order_readable",
      effect,
    });
    const stranger = await world.client("readable").create({ item: "z" }, { key: "theirs" });
    await world.clock.advance(1_000);
    const { findings } = await world.pass(world.hf.driftReport());
    expect(findings).toEqual([
      {
        finding: "foreign",
        tool: "order_readable",
        service: "order_readable",
        effectId: stranger.id,
        key: "theirs",
        at: stranger.at,
        openOperations: 0,
      },
    ]);
  });

  test("are not those of another tool of the same service", async () => {
    const world = await openWorld();
    await ordered(world, ["a"], { service: "shop" });
    const rest = { service: "shop", effect: { id: idOf, list: listAll(world) } };
    world.order("readable", { name: "order_other", ...rest });
    const report = await world.pass(world.hf.driftReport({ tools: ["order_other"] }));
    expect(report).toMatchObject({ checked: 0, findings: [], tools: [{ foreign: "checked" }] });
  });

  test("are not those of an operation that is still open", async () => {
    const world = await openWorld();
    const options = { effect: { id: idOf, list: listAll(world) } };
    world.service.plan(faults.commitThenReset());
    world.service.alwaysRead(readFaults.status());
    const tool = world.order("readable", options);
    expect(await world.pass(tool.outcome({ item: "a" }, ONCE))).toMatchObject({
      status: "unknown",
    });
    world.service.alwaysRead(undefined);
    await world.clock.advance(1_000);
    expect(kinds(await world.pass(world.hf.driftReport()))).toEqual([]);
    // Without its key it cannot be told: the report says how many it may belong to.
    const list = async () =>
      (await listAll(world)({} as never)).map(({ effectId }) => ({ effectId }));
    world.order("readable", { effect: { id: idOf, list } });
    const { findings } = await world.pass(world.hf.driftReport());
    expect(findings).toMatchObject([{ finding: "foreign", openOperations: 1 }]);
  });

  test("are asked for in the span of the report", async () => {
    const world = await openWorld();
    const list = vi.fn(() => [
      { effectId: "before", at: 4 },
      { effectId: "inside", at: 5 },
      { effectId: "after", at: 9 },
    ]);
    world.order("readable", { effect: { id: idOf, list } });
    const { findings } = await world.pass(world.hf.driftReport({ since: 5, until: 9 }));
    expect(list).toHaveBeenCalledWith(expect.objectContaining({ since: 5, until: 9 }));
    expect(findings).toMatchObject([{ effectId: "inside" }]);
  });

  test.each<[string, () => unknown]>([
    ["throws", () => Promise.reject(new Error("no"))],
    ["hangs", () => new Promise(() => {})],
    ["returns no list", () => ({ effects: [] })],
    ["returns effects without ids", () => [{ id: "ef_1" }]],
    ["returns too many", () => Array.from({ length: 10_001 }, (_, n) => ({ effectId: `${n}` }))],
  ])("cannot be told where effect.list %s", async (_, list) => {
    const world = await openWorld();
    world.order("readable", { effect: { id: idOf, list: list as never } });
    const report = await world.pass(world.hf.driftReport());
    expect(report.tools).toMatchObject([{ foreign: "cannot_tell" }]);
    expect(report.findings).toEqual([]);
  });

  test("need effect.id: without it every effect would be foreign", async () => {
    const world = await openWorld();
    const define = () => world.order("readable", { effect: { list: () => [] } });
    expect(define).toThrow(InvalidInputError);
    expect(() => world.order("readable", { effect: { same: 1 as never } })).toThrow(
      InvalidInputError,
    );
  });
});

describe("the span and the limit", () => {
  test("say what is looked at", async () => {
    const world = await openWorld();
    await ordered(world, ["a", "b", "c"]);
    const limited = await world.pass(world.hf.driftReport({ limit: 2 }));
    expect(limited).toMatchObject({ ended: "limit", checked: 2 });
    await world.clock.advance(2 * 86_400_000);
    expect(await world.pass(world.hf.driftReport())).toMatchObject({ checked: 0 });
    const progress = vi.fn();
    const all = await world.pass(world.hf.driftReport({ since: 0, onProgress: progress }));
    expect(all).toMatchObject({ ended: "done", checked: 3, since: 0 });
    expect(progress).toHaveBeenLastCalledWith({ checked: 3, findings: 0 });
    const stopped = world.hf.driftReport({ since: 0, signal: AbortSignal.abort() });
    expect(await world.pass(stopped)).toMatchObject({ ended: "stopped", checked: 0 });
  });

  test.each([[{ since: 5, until: 5 }], [{ limit: 0 }], [{ tools: ["x"] }], [{ drift: true }]])(
    "%j is refused",
    async (options) => {
      const { hf } = await openWorld();
      await expect(hf.driftReport(options as never)).rejects.toThrow(InvalidInputError);
    },
  );
});
