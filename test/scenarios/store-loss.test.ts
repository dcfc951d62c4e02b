import { describe, expect, test } from "vitest";
import { LOSSES } from "../crash/losses.ts";
import {
  ask,
  CLASSES,
  callAll,
  expectNothingNew,
  type LossyWorld,
  startLossyWorld,
} from "../crash/lossy-world.ts";

describe.each(LOSSES)("$says", ({ start, keepsOlder }) => {
  /** Some operations that the ledger remembers, and some that it will have lost. */
  async function loseLedger(world: LossyWorld): Promise<void> {
    const before = await world.open();
    await callAll(before, "older");
    await before.close();
    await world.ledger.remember();
    const after = await world.open();
    await callAll(after, "newer");
    expect(after.suspicions).toEqual([]);
    await after.close();
    await world.ledger.lose();
  }

  test("the loss is noticed, and nothing minted before is sent as new", async ({ skip }) => {
    const world = await startLossyWorld(start);
    if (!world) return skip();
    await loseLedger(world);
    await expectNothingNew(await world.open(), world);
  });

  test.runIf(keepsOlder)("what the ledger still remembers is replayed", async ({ skip }) => {
    const world = await startLossyWorld(start);
    if (!world) return skip();
    await loseLedger(world);
    const arrivals = world.service.arrivals.length;
    const { tools, suspicions } = await world.open();
    for (const toolClass of CLASSES) {
      expect(await ask(tools[toolClass], "older")).toMatchObject({
        status: "committed",
        replayed: true,
      });
    }
    expect(suspicions).toHaveLength(1);
    expect(world.service.arrivals).toHaveLength(arrivals);
  });

  test("what may be new is not sent, but in a scope that is vouched for", async ({ skip }) => {
    const world = await startLossyWorld(start);
    if (!world) return skip();
    await loseLedger(world);
    const { tools, sends, hf } = await world.open();
    expect(await ask(tools.neither, "new")).toMatchObject({
      status: "unknown",
      reason: "store_lost",
    });
    expect(await ask(tools.readable, "new")).toMatchObject({ status: "unknown" });
    expect(sends("neither", "new") + sends("readable", "new")).toBe(0);

    const fresh = { fresh: true } as const;
    const inFresh = await hf.scope("another request", () => ask(tools.neither, "new", {}), fresh);
    expect(inFresh).toMatchObject({ status: "committed", replayed: false });
    expect(sends("neither", "new")).toBe(1);
  });

  test("a person ends the suspicion, for every process", async ({ skip }) => {
    const world = await startLossyWorld(start);
    if (!world) return skip();
    await loseLedger(world);
    const before = await world.open();
    expect(await ask(before.tools.neither, "newer")).toMatchObject({ status: "unknown" });
    await before.hf.trust({ by: "ana" });
    expect(await ask(before.tools.neither, "new")).toMatchObject({ status: "committed" });
    await before.close();

    const after = await world.open();
    expect(await ask(after.tools.neither, "new again")).toMatchObject({ status: "committed" });
    // Nobody vouched that it was not sent: it stays in doubt.
    expect(await ask(after.tools.neither, "newer")).toMatchObject({
      status: "unknown",
      reason: "store_lost",
    });
    expect(after.suspicions).toEqual([]);
    expect(after.sends("neither", "newer")).toBe(0);
  });

  test("the suspicion outlives a process that went on with the ledger", async ({ skip }) => {
    const world = await startLossyWorld(start);
    if (!world) return skip();
    await loseLedger(world);
    const before = await world.open();
    // More than was lost: the ledger is then further than it ever was.
    await before.hf.scope(
      "much more",
      async () => {
        for (let index = 0; index < 20; index += 1) await ask(before.tools.keyed, `${index}`, {});
      },
      { fresh: true },
    );
    await before.close();

    const after = await world.open();
    expect(await ask(after.tools.neither, "newer")).toMatchObject({
      status: "unknown",
      reason: "store_lost",
    });
    expect(after.suspicions).toHaveLength(1);
    expect(after.sends("neither", "newer")).toBe(0);
  });
});
