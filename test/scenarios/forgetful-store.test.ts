import { describe, expect, test } from "vitest";
import { absent, cannotTell, type Reading } from "../../src/engine/define/reading.ts";
import type { NamedCallOptions } from "../../src/engine/operation/operation.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { type EffectBody, faults } from "../../src/testing/faulty-service.ts";
import { listen, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

/** Another process begins with an empty ledger; the service is the same. */
async function openForgetful(forgets?: "accepted") {
  const fresh = (now: () => number): Store => memoryStore({ now, forgets });
  const world = await openWorld({ store: fresh });
  const restart = () => {
    const hf = world.another({ store: fresh(world.clock.now) });
    return { hf, heard: listen(hf) };
  };
  return { ...world, restart };
}

describe("a store that may forget has no memory to trust: a missing record is read first", () => {
  test.each([undefined, "accepted"] as const)(
    "three starts are one payout (forgets: %s)",
    async (forgets) => {
      const { service, order, pass, restart } = await openForgetful(forgets);
      const first = await pass(order("readable").outcome(TEA, ONCE));
      expect(first).toMatchObject({ status: "committed", attempts: 1, effect: undefined });
      for (let start = 0; start < 2; start += 1) {
        const { hf, heard } = restart();
        const outcome = await pass(order("readable", {}, hf).outcome(TEA, ONCE));
        expect(outcome).toMatchObject({ status: "committed", effect: "noop", attempts: 0 });
        expect(heard("warning")).toMatchObject([{ code: "store_forgot", tool: "order_readable" }]);
      }
      expect(service.effects).toHaveLength(1);
      expect(service.arrivals).toHaveLength(1);
    },
  );

  test("also a call under a name of its caller's own, in no scope: nobody has called it fresh", async () => {
    const { service, order, pass, restart } = await openForgetful();
    // As `hf.run` does.
    const named: NamedCallOptions = { key: "payout-7" };
    await pass(order("readable").outcome(TEA, named));
    const { hf, heard } = restart();
    const again = await pass(order("readable", {}, hf).outcome(TEA, named));
    expect(again).toMatchObject({ status: "committed", effect: "noop", attempts: 0 });
    expect(heard("warning")).toMatchObject([{ code: "store_forgot" }]);
    expect(service.arrivals).toHaveLength(1);
  });

  test("a reply that was lost before the restart is found, too", async () => {
    const { service, order, pass, restart } = await openForgetful();
    service.plan(faults.commitThenReset());
    const blind = order("readable", {
      readState: () => cannotTell("down"),
      keyed: { forMs: 1e9 },
      attempts: 1,
    });
    expect(await pass(blind.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
    const { hf } = restart();
    const outcome = await pass(order("readable", {}, hf).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", effect: "noop" });
    expect(service.effects).toHaveLength(1);
  });

  test("one record evicted: its operation is found, and the others are replayed", async () => {
    const { service, order, pass, store, heard } = await openForgetful();
    const tool = order("readable");
    const { id } = await pass(tool.outcome(TEA, ONCE));
    await pass(tool.outcome({ item: "milk" }, ONCE));
    const { stored } = await store.read("default", id);
    const change = { tenant: "default", id, expect: stored?.version ?? 0, record: undefined };
    await store.swap({ ...change, lease: "none" });
    expect(await pass(tool.outcome(TEA, ONCE))).toMatchObject({ effect: "noop", replayed: false });
    expect(await pass(tool.outcome({ item: "milk" }, ONCE))).toMatchObject({ replayed: true });
    expect(heard("warning")).toMatchObject([{ code: "store_forgot", id }]);
    expect(service.effects).toHaveLength(2);
  });

  test("nothing there: it is fired, and a keyed tool without a reader is not held up", async () => {
    const { service, order, pass, heard } = await openForgetful();
    expect(await pass(order("readable").outcome(TEA, ONCE))).toMatchObject({ licence: "first" });
    expect(await pass(order("keyed").outcome(TEA, ONCE))).toMatchObject({ licence: "first" });
    expect(service.effects).toHaveLength(2);
    expect(heard("warning")).toEqual([]);
  });

  test("the reader cannot tell: nothing is sent, nothing is left behind, and the next call reads again", async () => {
    const { hf, service, order, pass } = await openForgetful();
    let reading: Reading<EffectBody> = cannotTell("down");
    const tool = order("readable", { readState: () => reading });
    const held = await pass(tool.outcome(TEA, ONCE));
    expect(held).toMatchObject({
      status: "unknown",
      reason: "cannot_tell",
      attempts: 0,
      recorded: false,
    });
    expect((await hf.operations.list()).items).toEqual([]);
    expect(service.arrivals).toHaveLength(0);
    reading = absent();
    expect(await pass(tool.outcome(TEA, ONCE))).toMatchObject({ status: "committed", attempts: 1 });
  });

  test("the reader cannot tell: the model is told that the same call may be made again, and so it may", async () => {
    const { service, order, pass } = await openForgetful();
    let reading: Reading<EffectBody> = cannotTell("down");
    const tool = order("readable", { readState: () => reading });
    const because =
      "Nothing was sent by this call: the ledger may have forgotten an earlier one, and the state could not be read.";
    expect(await pass(tool.outcome(TEA, ONCE))).toMatchObject({ status: "unknown", because });
    const message = `${because} It may have happened. The same call may be made again: it reads first, and sends nothing unless the state can be read.`;
    expect(await pass(tool.reply(TEA, ONCE))).toMatchObject({ outcome: "unknown", message });
    await expect(pass(tool(TEA, ONCE))).rejects.toThrow(`${because} The same call reads again.`);
    expect(service.arrivals).toHaveLength(0);
    reading = absent();
    expect(await pass(tool.reply(TEA, ONCE))).toMatchObject({ ok: true, outcome: "committed" });
    expect(service.effects).toHaveLength(1);
  });

  test("unless the service recognises a key, or it was accepted that the store forgets", async () => {
    const readState = () => cannotTell("down");
    const { order, pass } = await openForgetful();
    const keyed = order("keyed", { readState });
    expect(await pass(keyed.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
    const accepting = await openForgetful("accepted");
    const tool = accepting.order("readable", { readState });
    expect(await accepting.pass(tool.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
  });

  test("a precondition that is read anew is another one: nothing is sent where the reader cannot tell", async () => {
    const { service, order, pass, restart } = await openForgetful();
    await expect(order("conditional").outcome(TEA, ONCE)).rejects.toThrow("may forget");
    const readState = () => cannotTell("down");
    const first = order("conditional", { readState: () => absent() });
    expect(await pass(first.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
    const again = order("conditional", { readState }, restart().hf);
    expect(await pass(again.outcome(TEA, ONCE))).toMatchObject({ status: "unknown", attempts: 0 });
    expect(service.effects).toHaveLength(1);
  });

  test("a scope that its caller calls fresh is not read first", async () => {
    const { hf, service, order, pass } = await openForgetful();
    const tool = order("readable");
    await pass(hf.scope("s", () => tool.outcome(TEA), { fresh: true }));
    expect(service.reads.filter(({ seq }) => seq < (service.arrivals[0]?.seq ?? 0))).toEqual([]);
    expect(service.effects).toHaveLength(1);
  });
});
