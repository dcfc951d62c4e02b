/**
 * Two processes, one intent, and a fault at every point where the first waits for the store or the
 * network; then the same with every message delivered in an order that fast-check chooses.
 */

import { env } from "node:process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sized } from "../proof.ts";
import { describeAll, judge } from "./judge.ts";
import { createHits, type Fate } from "./world/fates.ts";
import { TIMES, type ToolClass } from "./world/settings.ts";
import { createWorld, type World } from "./world/world.ts";

const CLASSES: readonly ToolClass[] = ["K", "R", "KR", "C", "N"];
const FATES_MET: readonly Fate[] = ["ok", "lost_reply", "late_commit", "slow", "slow-late"];
/** When the second process makes the same call: with the first, or after its lease. */
const OFFSETS = [0, TIMES.lease + 500] as const;
const FAULTS = ["crash", "lease-loss, timers first", "lease-loss, replies first"] as const;
const STEP_MS = 250;

interface Case {
  readonly tool: ToolClass;
  readonly fate: Fate;
  readonly offset: number;
  readonly fault: (typeof FAULTS)[number];
}

/** In a small run every seventh: the number divides none of the counts, so each class, fate and fault is met. */
const EVERY = sized("EVERY", 1, 7);

const CASES: readonly Case[] = CLASSES.flatMap((tool) =>
  FATES_MET.flatMap((fate) =>
    OFFSETS.flatMap((offset) => FAULTS.map((fault) => ({ tool, fate, offset, fault }))),
  ),
).filter((_, index) => index % EVERY === 0);

const hits = createHits();

/** Strikes just before the `point`-th message arrives. Says whether there was one. */
async function strikeAt(point: number, { tool, fate, offset, fault }: Case): Promise<boolean> {
  let messages = 0;
  let struckAt: number | undefined;
  let isCalm = false;
  const world: World = createWorld({
    seed: 7 * point + offset,
    hits,
    transit: (time) => (ms, call) =>
      void time.after(ms, () => {
        messages += 1;
        if (messages === point && !isCalm) strike();
        call();
      }),
  });
  const strike = () => {
    struckAt = world.time.now();
    if (fault === "crash") world.process(0).crash();
    else world.process(0).freeze("stopped");
  };
  const wish = { tool, scope: "s1", what: "a" };
  world.call(world.process(0), { ...wish, fates: [fate], heeds: point % 2 === 0 });
  await world.time.advance(offset);
  world.call(world.process(1), wish);
  for (let waited = offset; waited < 2 * TIMES.deadline; waited += STEP_MS) {
    await world.time.advance(STEP_MS);
    const isOver = struckAt !== undefined && world.time.now() > struckAt + TIMES.lease + STEP_MS;
    if (isOver) await world.process(0).thaw(fault.endsWith("timers first") ? "timers" : "replies");
  }
  isCalm = true;
  const violations = await judge(world, hits);
  const where = `${tool}, ${fate}, second call after ${offset} ms, ${fault} at message ${point}`;
  if (violations.length > 0) throw new Error(`${where}:\n${describeAll(violations)}`);
  return struckAt !== undefined;
}

test("a crash or a lost lease at any await point breaks no invariant", {
  timeout: 600_000,
}, async () => {
  let runs = 0;
  for (const one of CASES) {
    for (let point = 1; await strikeAt(point, one); point += 1) runs += 1;
  }
  console.log(`interleavings: ${runs} runs, a fault at every await point`);
  expect(runs).toBeGreaterThan(2_500 / EVERY);
});

/** Delivers what the scheduler picks; time goes on when nothing is under way, and now and then before. */
async function shuffle(scheduler: fc.Scheduler, world: World, crashAt: number): Promise<void> {
  for (let turn = 0; turn < 120; turn += 1) {
    await world.time.drain();
    if (turn === crashAt) world.process(0).crash();
    if (scheduler.count() > 0 && turn % 7 !== 6) await scheduler.waitOne();
    else await world.time.advance(turn % 7 === 6 ? 400 : 20);
  }
  // What the last one brings about may be sent only after a while.
  for (await world.time.drain(); scheduler.count() > 0; await world.time.drain()) {
    await scheduler.waitOne();
  }
}

test("two processes and any order of messages break no invariant", {
  timeout: 600_000,
}, async () => {
  const numRuns = sized("SHUFFLED", 2_500, 250);
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.constantFrom(...CLASSES),
      fc.constantFrom(...FATES_MET),
      fc.nat({ max: 60 }),
      async (scheduler, tool, fate, crashAt) => {
        let shuffled = true;
        const world = createWorld({
          seed: crashAt,
          hits,
          transit: (time) => (ms, call, label) => {
            if (shuffled) void scheduler.schedule(Promise.resolve(label), label).then(call);
            else time.after(ms, call);
          },
        });
        const wish = { tool, scope: "s1", what: "a" };
        world.call(world.process(0), { ...wish, fates: [fate] });
        world.call(world.process(1), { ...wish, fates: [fate] });
        await shuffle(scheduler, world, crashAt);
        shuffled = false;
        const violations = await judge(world, hits);
        if (violations.length > 0) throw new Error(describeAll(violations));
      },
    ),
    { numRuns, seed: Number(env.SEED ?? 20_261_116) },
  );
  console.log(`interleavings: ${numRuns} shuffled runs`);
});
