/** A `run` that takes longer than an attempt usually does is waited for. */
import { describe, expect, test } from "vitest";
import { absent, committed, inProgress } from "../../src/engine/define/reading.ts";
import type { EffectBody } from "../../src/testing/faulty-service.ts";
import { type OrderOptions, openWorld, TEA, type World } from "./world.ts";

const ONCE = { scope: "s" };
const MADE = { id: "ef_1" } as EffectBody;

/** A tool that answers after so many milliseconds. */
const takes = ({ clock }: World, ms: number): OrderOptions => ({
  run: () => new Promise((resolve) => void clock.after(ms, () => resolve(MADE))),
});

describe("a 12 s tool whose attempts have 10 s, under a deadline of 60 s", () => {
  test.each(["neither", "readable"] as const)(
    "that is %s is committed after 12 s",
    async (kind) => {
      const world = await openWorld();
      const { order, pass, clock, heard } = world;
      const readState: OrderOptions = kind === "readable" ? { readState: () => absent() } : {};
      const slow = order(kind, { ...takes(world, 12_000), ...readState });
      const outcome = await pass(slow.outcome(TEA, ONCE));
      expect(outcome).toMatchObject({ status: "committed", attempts: 1, result: MADE });
      expect(clock.monotonic()).toBe(12_000);
      expect(heard("outcome", "unknown")).toEqual([]);
    },
  );

  test("is found by its reader as soon as its time is up", async () => {
    const world = await openWorld();
    const { order, pass, clock } = world;
    const slow = order("readable", { ...takes(world, 12_000), readState: () => committed(MADE) });
    expect(await pass(slow.outcome(TEA, ONCE))).toMatchObject({ status: "committed", via: "read" });
    expect(clock.monotonic()).toBe(10_000);
  });

  test("that was found by its reader, and never ends, leaves the ledger in peace", async () => {
    const world = await openWorld();
    const { order, pass, clock, store } = world;
    const hung = order("readable", {
      run: () => new Promise(() => {}),
      readState: () => committed(MADE),
    });
    await pass(hung.outcome(TEA, ONCE));
    // The beat that finds it settled is the last.
    await clock.advance(60_000);
    const { read, swap } = store;
    let asked = 0;
    const counted =
      <A extends readonly unknown[], R>(ask: (...args: A) => R) =>
      (...args: A): R => {
        asked += 1;
        return ask(...args);
      };
    Object.assign(store, { read: counted(read), swap: counted(swap) });
    await clock.advance(600_000);
    expect(asked).toBe(0);
  });

  test("that the service says is in progress is waited for", async () => {
    const world = await openWorld();
    const { order, pass } = world;
    const slow = order("readable", { ...takes(world, 12_000), readState: () => inProgress() });
    const outcome = await pass(slow.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", via: "reply" });
  });
});

describe("a tool that is not done at the deadline", () => {
  test("is in progress, for the next caller and for another process too, and done when it is", async () => {
    const world = await openWorld();
    const { order, pass, clock, hf, another } = world;
    const slow = order("neither", takes(world, 70_000));
    const told = { status: "in_progress", reason: "still_running" };
    const first = await pass(slow.outcome(TEA, ONCE));
    expect(first).toMatchObject(told);
    expect(clock.monotonic()).toBe(60_000);
    expect((await slow.reply(TEA, ONCE)).message).not.toContain("lost");
    expect(await slow.outcome(TEA, ONCE)).toMatchObject(told);
    expect(await order("neither", {}, another()).outcome(TEA, ONCE)).toMatchObject(told);
    await clock.advance(10_000);
    expect(await hf.operations.get(first.id)).toMatchObject({ status: "committed" });
  });

  test("whose process has died since is not said to be in progress for ever", async () => {
    const world = await openWorld();
    const { order, clock, another, store } = world;
    const { swap } = store;
    const slow = order("neither", { run: () => new Promise(() => {}) });
    const call = slow.outcome(TEA, { ...ONCE, deadlineMs: 5_000 });
    await clock.advance(5_000);
    expect(await call).toMatchObject({ status: "in_progress" });
    // Nothing of it is heard any more.
    Object.assign(store, { swap: () => new Promise(() => {}) });
    await clock.advance(60_000);
    Object.assign(store, { swap });
    const told = await order("neither", {}, another()).outcome(TEA, ONCE);
    expect(told).toMatchObject({ status: "unknown", reason: "owner_lost" });
  });
});

test("a person cannot say that it did not happen while it still runs, unless they know", async () => {
  const { hf, pass, clock } = await openWorld();
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    attemptTimeoutMs: 1_000,
    deadlineMs: 2_000,
    run: (_: object) => new Promise<never>(() => {}),
  });
  const { id, status } = await pass(pay.outcome({}, { scope: "job-1" }));
  expect(status).toBe("in_progress");
  const no = { as: "not_applied", by: "ana" } as const;
  await expect(hf.operations.resolve(id, no)).rejects.toThrow("may still be sent");
  // It goes on, and so does the time that it has.
  await clock.advance(60_000);
  await expect(hf.operations.resolve(id, no)).rejects.toThrow("may still be sent");
  expect(await hf.operations.resolve(id, { ...no, anyway: true })).toMatchObject({
    status: "not_applied",
  });
});
