import { describe, expect, test } from "vitest";
import { absent, committed, duplicated, inProgress } from "../../src/engine/define/reading.ts";
import { faults, readFaults } from "../../src/testing/faulty-service.ts";
import { openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

describe("readFirst looks before the first attempt", () => {
  test("found: nothing is sent, and the effect is a noop", async () => {
    const { service, order, pass, client } = await openWorld();
    const there = await pass(client("readable").create(TEA));
    const tool = order("readable", {
      readFirst: true,
      readState: async ({ intent }) => {
        const [found] = await client("readable").find({ item: intent.item });
        return found ? committed(found, { effectId: found.id }) : absent();
      },
    });
    const outcome = await pass(tool.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({
      status: "committed",
      effect: "noop",
      replayed: false,
      effectId: there.id,
      wireRequests: 0,
    });
    expect(service.arrivals).toHaveLength(1);
  });

  test("found: it was not fired, so it counts no attempt", async () => {
    const { order, pass } = await openWorld();
    const tool = order("readable", {
      readFirst: true,
      readState: () => committed({ id: "ef_1" } as never),
    });
    expect(await pass(tool.outcome(TEA, ONCE))).toMatchObject({ attempts: 0 });
    expect(await pass(tool.outcome(TEA, ONCE))).toMatchObject({ attempts: 0, replayed: true });
  });

  test("absent: it fires, and needs no licence for it", async () => {
    const { service, order, pass } = await openWorld();
    const outcome = await pass(order("readable", { readFirst: true }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", licence: "first", attempts: 1 });
    expect(service.reads[0]?.seq).toBeLessThan(service.arrivals[0]?.seq ?? 0);
    expect(service.effects).toHaveLength(1);
  });

  test("a look before the first attempt licenses no second one", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.commitThenReset());
    const tool = order("readable", { readFirst: true, commitsWithinMs: 0 });
    const outcome = await pass(tool.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.reads).toHaveLength(2);
    expect(service.effects).toHaveLength(1);
  });

  test("in progress: nothing is sent, nothing is left in the ledger, the next call looks again", async () => {
    const { service, order, pass, hf } = await openWorld();
    let reading = inProgress();
    const tool = order("readable", { readFirst: true, readState: () => reading });
    expect(await pass(tool.outcome(TEA, ONCE))).toMatchObject({ status: "in_progress" });
    expect((await hf.operations.list()).items).toEqual([]);
    reading = absent();
    expect(await pass(tool.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
    expect(service.arrivals).toHaveLength(1);
  });

  test("there twice already: alarm, and nothing is sent", async () => {
    const { service, order, pass, heard } = await openWorld();
    const tool = order("readable", {
      readFirst: true,
      readState: () => duplicated([{ id: "a" }, { id: "b" }] as never[]),
    });
    const outcome = await pass(tool.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", result: { id: "a" } });
    expect(heard("duplicate")).toMatchObject([{ source: "read" }]);
    expect(service.arrivals).toHaveLength(0);
  });

  test("a reader that cannot tell does not stand in the way of a first attempt", async () => {
    const { service, order, pass } = await openWorld();
    service.alwaysRead(readFaults.status());
    const outcome = await pass(order("readable", { readFirst: true }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.effects).toHaveLength(1);
  });

  test("an abort during the look withdraws the claim", async () => {
    const { service, order, pass, clock, hf } = await openWorld();
    const stop = new AbortController();
    const tool = order("readable", { readFirst: true, readState: () => new Promise(() => {}) });
    const call = tool.outcome(TEA, { ...ONCE, signal: stop.signal });
    await clock.settle();
    stop.abort();
    expect(await pass(call)).toMatchObject({ status: "not_applied", reason: "aborted" });
    expect((await hf.operations.list()).items).toEqual([]);
    expect(service.arrivals).toHaveLength(0);
  });
});
