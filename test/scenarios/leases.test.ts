import { describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import { type EffectBody, faults } from "../../src/testing/faulty-service.ts";
import { until } from "../engine/virtual-clock.ts";
import { keysOf, openWorld, TEA, type World } from "./world.ts";

const ONCE = { scope: "s" };

/** An owner whose run lands when the test says so, and whose beats are as slow as the world says. */
function hung(
  world: World,
  toolClass: "keyed" | "readable" | "neither",
  options = {},
  by: Holdfire = world.hf,
) {
  const landings: { resolve(made: EffectBody): void; reject(error: unknown): void }[] = [];
  const tool = world.order(
    toolClass,
    {
      attemptTimeoutMs: 50_000,
      ...options,
      run: (_, { key }) =>
        new Promise((resolve, reject) => {
          landings.push({ resolve, reject });
          expect(key).toBeTypeOf("string");
        }),
    },
    by,
  );
  return { call: tool.outcome(TEA, ONCE), landings };
}

describe("an owner that works is not taken over", () => {
  test("its lease is renewed for as long as it takes", async () => {
    const world = await openWorld();
    const { order, pass, clock, another } = world;
    const { call, landings } = hung(world, "keyed");
    await clock.advance(45_000);
    const other = order("keyed", {}, another());
    const waits = other.outcome(TEA, { ...ONCE, deadlineMs: 1_000 });
    expect(await pass(waits)).toMatchObject({ status: "in_progress" });
    landings[0]?.resolve({ id: "ef_1" } as EffectBody);
    expect(await pass(call)).toMatchObject({ status: "committed", attempts: 1 });
    expect(world.service.arrivals).toHaveLength(0);
  });
});

describe("an owner that lost its lease", () => {
  test("is told so, fires no more, and what it learns is filed as evidence", async () => {
    const world = await openWorld();
    const { service, order, pass, clock, another, heard, hf } = world;
    const { call, landings } = hung(world, "keyed");
    await clock.settle();
    clock.jump(200_000);
    const heir = await pass(order("keyed", {}, another()).outcome(TEA, ONCE));
    expect(heir).toMatchObject({ status: "committed", attempts: 2, licence: "keyed" });
    landings[0]?.resolve({ id: "ef_old" } as EffectBody);
    const old = await pass(call);
    expect(old).toMatchObject({ status: "committed" });
    const view = await hf.operations.get(heir.id);
    expect(view?.evidence).toMatchObject([{ attempt: 1, epoch: 1, verdict: "committed" }]);
    expect(view?.status).toBe("committed");
    expect(keysOf(service)).toEqual([heir.key]);
    expect(heard("warning", "lease_lost").length).toBeLessThanOrEqual(1);
  });

  test("notices at its next beat", async () => {
    const world = await openWorld();
    const { order, pass, clock, another, heard } = world;
    const { call, landings } = hung(world, "keyed");
    await clock.settle();
    clock.jump(200_000);
    await pass(order("keyed", {}, another()).outcome(TEA, ONCE));
    await clock.advance(30_000);
    expect(heard("warning", "lease_lost")).toHaveLength(1);
    landings[0]?.reject(new Error("reset"));
    const old = await pass(call);
    expect(old).toMatchObject({ status: "committed" });
    expect(landings).toHaveLength(1);
  });

  test("its no is evidence too", async () => {
    const world = await openWorld();
    const { order, pass, clock, another, hf } = world;
    const { call, landings } = hung(world, "keyed", { classify: () => "rejected" });
    await clock.settle();
    clock.jump(200_000);
    const heir = await pass(order("keyed", {}, another()).outcome(TEA, ONCE));
    landings[0]?.reject(new Error("declined"));
    await pass(call);
    await clock.advance(1_000);
    const view = await hf.operations.get(heir.id);
    expect(view?.evidence).toMatchObject([{ attempt: 1, verdict: "rejected" }]);
  });

  test("its yes stops an heir that has not sent yet", async () => {
    const world = await openWorld();
    const { service, order, pass, clock, another, hf } = world;
    const { call, landings } = hung(world, "readable");
    await clock.settle();
    clock.jump(200_000);
    // The heir waits for its window; the dead owner turns out to be alive.
    const heir = order("readable", { commitsWithinMs: 150_000, deadlineMs: 400_000 }, another());
    const waiting = heir.outcome(TEA, ONCE);
    await until(() => service.reads.length > 0);
    landings[0]?.resolve({ id: "ef_old" } as EffectBody);
    await pass(call);
    const outcome = await pass(waiting);
    expect(outcome).toMatchObject({ status: "committed" });
    expect(await hf.operations.get(outcome.id)).toMatchObject({ status: "committed" });
    expect(service.arrivals).toHaveLength(0);
  });
});

describe("the clocks of a host", () => {
  test("a wall clock that jumps does not let an attempt start on a lease that may be gone", async () => {
    const { service, order, pass, clock, heard } = await openWorld();
    service.plan(faults.resetBefore());
    const keyed = order("keyed");
    const call = keyed.outcome(TEA, ONCE);
    await until(() => heard("verdict").length === 1);
    clock.jump(-3_600_000);
    const outcome = await pass(call);
    expect(outcome).toMatchObject({ status: "committed", attempts: 2 });
    expect(service.effects).toHaveLength(1);
  });

  test("who takes over counts the window from the time until which the dead owner's attempt could send", async () => {
    const world = await openWorld();
    const { service, order, pass, clock, another } = world;
    // Its process is dead: the ledger hears nothing more from it.
    const { swap } = world.store;
    let isDead = false;
    const dead = {
      ...world.store,
      swap: (change: Parameters<typeof swap>[0]) =>
        isDead ? new Promise<never>(() => {}) : swap(change),
    };
    hung(world, "readable", {}, another({ store: dead })).call.catch(() => {});
    await clock.settle();
    isDead = true;
    const began = clock.now();
    clock.jump(6_000);
    // The lease ran out 1 s ago; the attempt had 50 s, and a second for its claim.
    const heir = order("readable", { commitsWithinMs: 5_000 }, another());
    const outcome = await pass(heir.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", licence: "absent", attempts: 2 });
    const [arrival] = service.arrivals;
    expect((arrival?.at ?? 0) - began).toBeGreaterThan(51_000 + 5_000);
  });

  test("the takeover is told", async () => {
    const world = await openWorld();
    const { order, pass, clock, another } = world;
    hung(world, "keyed").call.catch(() => {});
    await clock.settle();
    clock.jump(66_000);
    const heir = another();
    const epochs: number[] = [];
    heir.on("takeover", ({ epoch }) => epochs.push(epoch));
    await pass(order("keyed", {}, heir).outcome(TEA, ONCE));
    expect(epochs).toEqual([2]);
  });
});
