/** What a drift report says of a reader in the wrong account, and of effects that a person has vouched for. */

import { describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import { absent, committed } from "../../src/engine/define/reading.ts";
import type { DriftReport } from "../../src/reconcile/drift-report.ts";
import { type EffectBody, faults, readFaults } from "../../src/testing/faulty-service.ts";
import { listen, lookUp, type OrderOptions, openWorld, type World } from "./world.ts";

const ONCE = { scope: "s" };
const idOf = ({ id }: EffectBody): string => id;
const LATER = { commitsWithinMs: 1_000, effect: { id: idOf } };

/** Commits so many orders, and lets the time pass in which a reader may lag. */
async function commit(world: World, count: number, options: OrderOptions = LATER) {
  const tool = world.order("readable", options);
  const outcomes = [];
  for (let n = 0; n < count; n += 1) {
    outcomes.push(await world.pass(tool.outcome({ item: `item ${n}` }, ONCE)));
  }
  await world.clock.advance(10_000);
  return outcomes;
}

/** The process of a person who looks, with a reader of its own. */
function inspect(world: World, options: OrderOptions) {
  const hf = world.another();
  const tool = world.order("readable", { ...LATER, ...options }, hf);
  const heard = listen(hf);
  return { tool, heard, report: () => world.pass(hf.driftReport()), hf };
}

const kinds = ({ findings }: DriftReport): string[] => findings.map(({ finding }) => finding);

describe("a reader that looks into the wrong account", () => {
  test("finds none of twenty: one finding, that it is blind, and no effect is called gone", async () => {
    const world = await openWorld();
    await commit(world, 20);
    const { heard, report } = inspect(world, { readState: () => absent() });
    const found = await report();
    const blind = { finding: "reader_blind", tool: "order_readable" };
    expect(found.findings).toEqual([{ ...blind, missed: 20 }]);
    expect(found.notCompared.map(({ why }) => why)).toEqual(Array(20).fill("reader_blind"));
    expect(found.tools).toMatchObject([{ effects: "cannot_tell" }]);
    expect(heard("drift")).toEqual([{ ...blind, tenant: "default" }]);
    expect(heard("warning", "reader_blind")).toHaveLength(1);
    // Told again by the next report, and warned of once.
    expect(kinds(await report())).toEqual(["reader_blind"]);
    expect(heard("warning", "reader_blind")).toHaveLength(1);
  });

  test("loses the absent licence: a lost reply is not sent again", async () => {
    const world = await openWorld();
    await commit(world, 3);
    const { tool, report } = inspect(world, { readState: () => absent() });
    await report();
    const before = world.service.arrivals.length;
    world.service.plan(faults.commitThenReset());
    const outcome = await world.pass(tool.outcome({ item: "lost" }, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "reader_blind" });
    expect(world.service.arrivals).toHaveLength(before + 1);
  });

  test("loses it for its own tenant alone", async () => {
    const world = await openWorld();
    const [acme, globex] = ["acme", "globex"].map((tenant) => world.hf.forTenant(tenant));
    const find = lookUp(world.client("readable"));
    let blind = false;
    const seen = world.order("readable", LATER, globex);
    const tool = world.order(
      "readable",
      { ...LATER, readState: (query) => (blind ? absent() : find(query)) },
      acme,
    );
    for (const item of ["a", "b", "c"]) {
      await world.pass(tool.outcome({ item }, ONCE));
      await world.pass(seen.outcome({ item }, ONCE));
    }
    await world.clock.advance(10_000);
    blind = true;
    expect(kinds(await world.pass((acme as Holdfire).driftReport()))).toEqual(["reader_blind"]);
    expect(kinds(await world.pass((globex as Holdfire).driftReport()))).toEqual([]);
    for (const [by, outcome] of [
      [tool, { status: "unknown", reason: "reader_blind" }],
      [seen, { status: "committed", licence: "absent" }],
    ] as const) {
      world.service.plan(faults.resetBefore());
      expect(await world.pass(by.outcome({ item: "lost" }, ONCE))).toMatchObject(outcome);
    }
  });

  test("is found out when its account changes while the process runs", async () => {
    const world = await openWorld();
    let readState = lookUp(world.client("readable"));
    await commit(world, 5, { ...LATER, readState: (query) => readState(query) });
    expect(kinds(await world.pass(world.hf.driftReport()))).toEqual([]);
    readState = async () => absent();
    expect(kinds(await world.pass(world.hf.driftReport()))).toEqual(["reader_blind"]);
  });

  test("and declares no window is blind, too", async () => {
    const world = await openWorld();
    await commit(world, 2);
    const { report } = inspect(world, { readState: () => absent(), commitsWithinMs: undefined });
    expect(kinds(await report())).toEqual(["reader_blind"]);
  });
});

describe("a reader that finds one commit is believed of the others", () => {
  test("in the span of the report", async () => {
    const world = await openWorld();
    const [kept] = await commit(world, 4);
    const find = lookUp(world.client("readable"));
    const { report } = inspect(world, {
      readState: (query) => (query.key === kept?.key ? find(query) : absent()),
    });
    expect(kinds(await report())).toEqual(["gone", "gone", "gone"]);
  });

  test("or after it: all that was made in the span is gone", async () => {
    const world = await openWorld();
    const gone = await commit(world, 4);
    const until = world.clock.now();
    const find = lookUp(world.client("readable"));
    const keys = new Set(gone.map(({ key }) => key));
    const { hf, tool } = inspect(world, {
      readState: (query) => (keys.has(query.key) ? absent() : find(query)),
    });
    await world.pass(tool.outcome({ item: "new" }, ONCE));
    await world.clock.advance(10_000);
    const report = await world.pass(hf.driftReport({ until }));
    expect(kinds(report)).toEqual(["gone", "gone", "gone", "gone"]);
  });
});

describe("an effect under the key of an operation that a person resolved", () => {
  /** A reply that was lost, by a tool whose reader needs the intent: of a settled operation it cannot tell. */
  async function lostReply(world: World) {
    const client = world.client("readable");
    // The service gives effects no time, so each report sees all of them.
    const list = async () => (await client.find({})).map(({ id, key }) => ({ effectId: id, key }));
    const readState: OrderOptions["readState"] = async ({ intent }) => {
      const [found] = await client.find({ item: intent.item });
      return found ? committed(found, { effectId: found.id }) : absent();
    };
    const tool = world.order("readable", { readState, effect: { id: idOf, list } });
    world.service.plan(faults.commitThenReset());
    world.service.alwaysRead(readFaults.status());
    const outcome = await world.pass(tool.outcome({ item: "tea" }, ONCE));
    expect(outcome).toMatchObject({ status: "unknown" });
    world.service.alwaysRead(undefined);
    return outcome;
  }

  test.each([
    ["in the span", 0],
    ["before the span", 2_000],
  ])("as committed %s is not foreign", async (_, laterMs) => {
    const world = await openWorld();
    const { id } = await lostReply(world);
    await world.hf.operations.resolve(id, { as: "committed", by: "ana" });
    await world.clock.advance(laterMs + 1);
    const since = world.clock.now() - 1_000;
    const report = await world.pass(world.hf.driftReport({ since }));
    expect(report).toMatchObject({ findings: [], tools: [{ foreign: "checked" }] });
  });

  test("as committed, with a second one under its key, is duplicated", async () => {
    const world = await openWorld();
    const { id, key } = await lostReply(world);
    await world.hf.operations.resolve(id, { as: "committed", by: "ana" });
    await world.client("readable").create({ item: "tea" }, { key });
    await world.clock.advance(1_000);
    const { findings } = await world.pass(world.hf.driftReport());
    expect(findings).toMatchObject([{ finding: "duplicated", id, key, count: 2 }]);
  });

  test("as not applied is unexpected: it is there", async () => {
    const world = await openWorld();
    const { id, key } = await lostReply(world);
    await world.hf.operations.resolve(id, { as: "not_applied", by: "ana" });
    await world.clock.advance(1_000);
    const { findings } = await world.pass(world.hf.driftReport());
    const [effect] = world.service.effects;
    expect(findings).toEqual([
      {
        finding: "unexpected",
        tool: "order_readable",
        id,
        key,
        scope: "s",
        effectId: effect?.effectId,
        state: "not_applied",
      },
    ]);
  });
});
