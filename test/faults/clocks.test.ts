/**
 * The clock of a host is set, or the host sleeps, at each moment of an operation. The service goes by the true
 * time, and remembers keys for a day.
 */
import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/lang/clock.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { type Fault, faults } from "../../src/testing/faulty-service.ts";
import { virtualClock } from "../engine/virtual-clock.ts";
import { DAY_MS, type OrderTool, openWorld, TEA, type World } from "../scenarios/world.ts";

const ONCE = { scope: "s" };
const CLASSES = ["keyed", "readable", "neither"] as const;

/** The service commits within this, or not at all. */
const POWERS = { commitsWithinMs: 1_000, via: "http" as const };

interface Turn {
  readonly says: string;
  readonly how: "set" | "sleep";
  readonly ms: number;
}

const TURNS: readonly Turn[] = [
  { says: "set forward by 90 s", how: "set", ms: 90_000 },
  { says: "set back by 90 s", how: "set", ms: -90_000 },
  { says: "set forward by a day", how: "set", ms: DAY_MS },
  { says: "set back by a day", how: "set", ms: -DAY_MS },
  { says: "behind after a sleep of 90 s", how: "sleep", ms: 90_000 },
  { says: "behind after a sleep of 25 h", how: "sleep", ms: DAY_MS + 3_600_000 },
];

/** When the clock turns, in the run of the first attempt, and what happens to its request. */
const MOMENTS: readonly { says: string; when: "before" | "after"; fault?: Fault }[] = [
  { says: "between claim and send", when: "before" },
  { says: "between reply and settle", when: "after" },
  { says: "with the reply lost", when: "after", fault: faults.commitThenReset() },
  { says: "with the request lost", when: "after", fault: faults.resetBefore() },
  { says: "with a late commit", when: "after", fault: faults.lateCommit({ afterMs: 900 }) },
];

interface TurningWorld extends World {
  turn(turn: Turn): void;
  /** Lets the true time pass for all clocks. */
  wait(ms: number): Promise<void>;
}

/** The clock of a server counts the time in which the host sleeps; that of a SQLite file on the host does not. */
const STORES = ["a server", "the host"] as const;

async function openTurning(storeOn: (typeof STORES)[number]): Promise<TurningWorld> {
  const start = virtualClock().now();
  let slept = 0;
  let monotonic = () => 0;
  const now = () => Math.floor(start + monotonic() + slept);
  const storeNow = storeOn === "a server" ? now : () => Math.floor(start + monotonic());
  const world = await openWorld({
    service: { now },
    store: () => memoryStore({ now: storeNow, forgets: "accepted" }),
  });
  const { clock } = world;
  ({ monotonic } = clock);
  return {
    ...world,
    turn({ how, ms }) {
      if (how === "sleep") slept += ms;
      clock.jump(ms);
    },
    wait: (ms) => clock.advance(ms),
  };
}

/** Asks, and holds what is told against what has happened by then. */
async function askAndCheck({ pass, service }: World, tool: OrderTool): Promise<string> {
  const { status, ...told } = await pass(tool.outcome(TEA, ONCE));
  expect(service.effects.length).toBeLessThanOrEqual(1);
  if (status === "committed") {
    expect(told).toMatchObject({ result: { id: service.effects[0]?.effectId } });
  } else expect(["not_applied", "unknown"]).toContain(status);
  if (status === "not_applied") expect(service.effects).toHaveLength(0);
  return status;
}

const CASES = TURNS.flatMap((turn) => STORES.map((storeOn) => ({ ...turn, turn, storeOn })));

describe.each(CASES)("a clock is $says, with the store on $storeOn", ({ turn, storeOn }) => {
  describe.each(MOMENTS)("$says", ({ when, fault }) => {
    test.each(CLASSES)("%s: one effect at most, and every word is true", async (toolClass) => {
      const world = await openTurning(storeOn);
      const { order, service, client, another } = world;
      if (fault) service.plan(fault);
      const send = client(toolClass);
      let runs = 0;
      const first = order(toolClass, {
        ...POWERS,
        async run(args, { key, signal }) {
          runs += 1;
          if (runs === 1 && when === "before") world.turn(turn);
          try {
            return await send.create(args, { key, signal });
          } finally {
            if (runs === 1 && when === "after") world.turn(turn);
          }
        },
      });
      const told = await askAndCheck(world, first);
      const next = await askAndCheck(world, first);
      const byAnother = await askAndCheck(world, order(toolClass, POWERS, another()));
      // By now the service has forgotten the key: whoever sends it again makes a second effect.
      await world.wait(2 * DAY_MS);
      const last = await askAndCheck(world, order(toolClass, POWERS, another()));
      if (told === "committed") {
        expect([next, byAnother, last]).toEqual(["committed", "committed", "committed"]);
      }
      if (toolClass === "readable") expect(last).toBe("committed");
      if (toolClass === "neither") expect(service.arrivals).toHaveLength(1);
    });
  });

  test.each(CLASSES)("%s, for one of two processes: one effect at most", async (toolClass) => {
    const world = await openTurning(storeOn);
    const { order, service, clock, another } = world;
    service.plan(faults.commitThenReset());
    const off: Clock = { ...clock, now: () => clock.now() + turn.ms };
    const other = another({ surroundings: { clock: off, random: () => 0.5 } });
    const tools = [order(toolClass, POWERS), order(toolClass, POWERS, other)];
    for (const tool of [...tools, ...tools]) {
      await askAndCheck(world, tool);
      await world.wait(DAY_MS / 2);
    }
    expect(service.effects).toHaveLength(1);
  });
});
