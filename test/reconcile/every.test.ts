import { describe, expect, test, vi } from "vitest";
import { absent } from "../../src/engine/define/reading.ts";
import { InvalidInputError } from "../../src/errors.ts";
import { faults, readFaults } from "../../src/testing/faulty-service.ts";
import { failingStore } from "../engine/failing-store.ts";
import { listen, openWorld, type World } from "../scenarios/world.ts";

const MINUTE_MS = 60_000;

/** Leaves operations unknown, whose reader answers only when it is told to. */
async function unknowns(world: World, items: readonly string[]) {
  for (const item of items) {
    world.service.plan(faults.resetBefore());
    world.service.alwaysRead(readFaults.status());
    await world.pass(world.order("readable").outcome({ item }, { scope: "s" }));
  }
  world.service.alwaysRead(undefined);
}

/** A tool whose reads are counted, with a holdfire of its own. */
function watched(world: World, readState = vi.fn(async () => absent())) {
  const hf = world.another();
  world.order("readable", { readState }, hf);
  return { hf, readState };
}

describe("reconcileEvery", () => {
  test("makes a pass after each pause, until it is stopped", async () => {
    const world = await openWorld();
    await unknowns(world, ["a"]);
    const { hf, readState } = watched(world);
    const stop = hf.reconcileEvery(MINUTE_MS);
    await world.clock.advance(MINUTE_MS - 1);
    expect(readState).not.toHaveBeenCalled();
    await world.clock.advance(1);
    expect(readState).toHaveBeenCalledTimes(1);
    await world.clock.advance(3 * MINUTE_MS);
    expect(readState).toHaveBeenCalledTimes(4);
    stop();
    await world.clock.advance(10 * MINUTE_MS);
    expect(readState).toHaveBeenCalledTimes(4);
  });

  test("spreads its passes by chance", async () => {
    const world = await openWorld();
    const pauses: number[] = [];
    for (const chance of [0, 0.999]) {
      const after = vi.spyOn(world.clock, "after");
      const hf = world.another({ surroundings: { clock: world.clock, random: () => chance } });
      const stop = hf.reconcileEvery(1_000);
      pauses.push(after.mock.calls[0]?.[0] ?? 0);
      // It keeps no process alive.
      expect(after.mock.calls[0]?.[2]).toBe(true);
      after.mockRestore();
      stop();
    }
    expect(pauses[0]).toBe(800);
    expect(pauses[1]).toBeCloseTo(1_200, -1);
  });

  test("never overlaps with itself", async () => {
    const world = await openWorld();
    await unknowns(world, ["a"]);
    let atOnce = 0;
    let most = 0;
    const readState = vi.fn(async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise<void>((resolve) => world.clock.after(4_000, resolve));
      atOnce -= 1;
      return absent();
    });
    const { hf } = watched(world, readState as never);
    const stop = hf.reconcileEvery(1_000);
    await world.clock.advance(30_000);
    stop();
    expect(most).toBe(1);
    expect(readState.mock.calls.length).toBeGreaterThan(3);
  });

  test("goes on where its limit stopped it: what stays unknown keeps nobody waiting", async () => {
    const world = await openWorld();
    await unknowns(world, ["a", "b", "c"]);
    const { hf, readState } = watched(world);
    const stop = hf.reconcileEvery(1_000, { limit: 1 });
    await world.clock.advance(3_000);
    stop();
    const seen = readState.mock.calls.map((call) => (call as unknown[])[0] as { key: string });
    expect(new Set(seen.map(({ key }) => key)).size).toBe(3);
  });

  test("goes on after a pass that failed", async () => {
    const world = await openWorld();
    await unknowns(world, ["a"]);
    const store = Object.create(world.store) as typeof world.store;
    let down = true;
    const list: typeof store.list = (query) =>
      down ? Promise.reject(new Error("down")) : world.store.list(query);
    const hf = world.another({ store: Object.assign(store, { list }) });
    const readState = vi.fn(async () => absent());
    world.order("readable", { readState }, hf);
    const heard = listen(hf);
    const stop = hf.reconcileEvery(1_000);
    await world.clock.advance(1_000);
    expect(heard("store", "error").length).toBeGreaterThan(0);
    down = false;
    await world.clock.advance(1_000);
    stop();
    expect(readState).toHaveBeenCalledTimes(1);
  });

  test("ends with the signal, and with the holdfire", async () => {
    const world = await openWorld({ store: (now) => failingStore({ now, forgets: "accepted" }) });
    await unknowns(world, ["a"]);
    const { hf, readState } = watched(world);
    const stop = new AbortController();
    hf.reconcileEvery(1_000, { signal: stop.signal });
    stop.abort();
    await world.clock.advance(5_000);
    expect(readState).not.toHaveBeenCalled();
    hf.reconcileEvery(1_000);
    await world.pass(hf.close());
    const before = readState.mock.calls.length;
    await world.clock.advance(5_000);
    expect(readState).toHaveBeenCalledTimes(before);
  });

  test.each([0, -1, Number.NaN, "1000"])("a pause of %s is refused", async (ms) => {
    const world = await openWorld();
    expect(() => world.hf.reconcileEvery(ms as number)).toThrow(InvalidInputError);
  });
});
