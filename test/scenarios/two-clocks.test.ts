/** A host that sleeps, and clocks that are set: rights that end go by the clock that shows more, rights that begin by the other. */
import { describe, expect, test } from "vitest";
import { absent } from "../../src/engine/define/reading.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { virtualClock } from "../engine/virtual-clock.ts";
import { DAY_MS, openWorld, TEA, type World } from "./world.ts";

const ONCE = { scope: "s" };
const HOUR_MS = 3_600_000;

/** A store with a clock of its own, which does not count the time in which the host sleeps, as that of SQLite. */
async function openAsleep(): Promise<World & { setStore(ms: number): void }> {
  const start = virtualClock().now();
  let ahead = 0;
  let monotonic = () => 0;
  const now = () => Math.floor(start + monotonic() + ahead);
  const world = await openWorld({ store: () => memoryStore({ now, forgets: "accepted" }) });
  ({ monotonic } = world.clock);
  return {
    ...world,
    setStore(ms) {
      ahead += ms;
    },
  };
}

describe("the host sleeps, and the store's clock with it", () => {
  test("30 h, and the service remembers keys for 24 h: nothing is sent again", async () => {
    const { order, pass, clock, service, another } = await openAsleep();
    service.plan(faults.commitThenReset());
    const keyed = order("keyed", { keyed: { forMs: DAY_MS }, attempts: 1 });
    expect(await pass(keyed.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
    clock.jump(30 * HOUR_MS);
    for (const tool of [keyed, order("keyed", {}, another())]) {
      const told = await pass(tool.outcome(TEA, ONCE));
      expect(told).toMatchObject({ status: "unknown", reason: "key_expired" });
    }
    expect(service.arrivals).toHaveLength(1);
  });

  test("a yes given 60 h before is not spent", async () => {
    const { hf, pass, clock } = await openAsleep();
    let runs = 0;
    const drop = hf.tool({
      name: "drop",
      kind: "destructive",
      run: (_: { item: string }) => {
        runs += 1;
        return runs;
      },
    });
    const { id } = await pass(drop.outcome({ item: "tea" }, ONCE));
    const asked = await hf.approvals.get(id);
    await hf.approvals.approve(id, { digest: asked?.digest ?? "", by: "ana" });
    clock.jump(60 * HOUR_MS);
    expect(await pass(drop.outcome({ item: "tea" }, ONCE))).toMatchObject({ status: "held" });
    expect(runs).toBe(0);
  });
});

describe("a clock is set forward by 40 s", () => {
  test.each(["the store's", "the host's"])(
    "%s: absent is not proof before its time",
    async (which) => {
      const { order, pass, clock, service, another, setStore } = await openAsleep();
      service.plan(faults.resetBefore());
      const options = { commitsWithinMs: 30_000, deadlineMs: 5_000, readState: () => absent() };
      const readable = order("readable", options);
      const first = await pass(readable.outcome(TEA, ONCE));
      expect(first).toMatchObject({ status: "unknown", reason: "deadline" });
      if (which === "the store's") setStore(40_000);
      else clock.jump(40_000);
      for (const tool of [readable, order("readable", options, another())]) {
        expect(await pass(tool.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
      }
      expect(service.arrivals).toHaveLength(1);
      await clock.advance(60_000);
      clock.jump(60_000);
      const later = await pass(readable.outcome(TEA, ONCE));
      expect(later).toMatchObject({ status: "committed", licence: "absent", attempts: 2 });
    },
  );

  test("the store's, which was behind when the attempt ended: absent is not proof before its time", async () => {
    const { order, pass, clock, client, service, another, setStore } = await openAsleep();
    service.plan(faults.resetBefore());
    const options = { commitsWithinMs: 30_000, deadlineMs: 5_000, readState: () => absent() };
    const readable = order("readable", {
      ...options,
      run: async (args, { key }) => {
        setStore(-40_000);
        // The lease is renewed meanwhile, and with it what is known of the store's clock.
        await new Promise<void>((resolve) => void clock.after(3_000, resolve));
        return client("readable").create(args, { key });
      },
    });
    expect(await pass(readable.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
    setStore(40_000);
    const heir = order("readable", options, another());
    expect(await pass(heir.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
    expect(service.arrivals).toHaveLength(1);
    await clock.advance(31_000);
    const later = await pass(heir.outcome(TEA, ONCE));
    expect(later).toMatchObject({ status: "committed", licence: "absent", attempts: 2 });
  });

  test("both, where the store runs on the same host: the process that fired still knows how long ago that was", async () => {
    const { order, pass, clock, service, setStore } = await openAsleep();
    service.plan(faults.resetBefore());
    const options = { commitsWithinMs: 30_000, deadlineMs: 5_000, readState: () => absent() };
    const readable = order("readable", options);
    expect(await pass(readable.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
    setStore(40_000);
    clock.jump(40_000);
    expect(await pass(readable.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
    expect(service.arrivals).toHaveLength(1);
    await clock.advance(31_000);
    const later = await pass(readable.outcome(TEA, ONCE));
    expect(later).toMatchObject({ status: "committed", licence: "absent", attempts: 2 });
  });
});
