/**
 * The named tests that catch the bugs of `wire-bugs.ts`: what was seen of the requests of an attempt, and the times
 * until which they may leave and from which an absence is proof.
 */

import { expect, test } from "vitest";
import { finish } from "../liveness.ts";
import { TIMES } from "../world/settings.ts";
import type { World } from "../world/world.ts";
import { broken, during, wish, worldOf } from "./in-a-world.ts";

const SEEDS = [1, 2, 3, 4, 5, 6];

test("what was done out of sight is not told as not sent", async () => {
  const world = worldOf();
  const call = await finish(world, 0, wish("AN", { manner: "other-way" }));
  expect(world.service.effects).toHaveLength(1);
  expect(call.outcome?.status).toBe("unknown");
});

test("a value that was returned is no yes when the service said no", async () => {
  for (const tool of ["HN", "AN"] as const) {
    const world = worldOf();
    await finish(world, 0, wish(tool, { manner: "swallows", fates: ["rejected"] }));
    expect(await broken(world, "I5")).toBe("");
  }
});

test("a request that leaves after the end takes the certainty back", async () => {
  for (const seed of SEEDS) {
    const world = worldOf({ seed });
    await finish(world, 0, wish("AN", { manner: "late-branch" }));
    expect(await broken(world, "I5")).toBe("");
  }
});

test("a read that was not answered is not an absence", async () => {
  for (const seed of SEEDS) {
    const world = worldOf({ seed });
    const reads = ["unanswered", "unanswered", "unanswered", "unanswered"] as const;
    await finish(world, 0, wish("R", { fates: ["lost_reply"], reads }));
    expect(await broken(world, "I1")).toBe("");
  }
});

test("where a record may have been forgotten, the state is read before anything is sent", async () => {
  const world = worldOf({ forgets: true });
  await finish(world, 0, wish("R"));
  for (const record of await world.store.dump()) await world.store.evict(record);
  const again = await finish(world, 1, wish("R"));
  expect([again.outcome?.status, world.network.sends.length]).toEqual(["committed", 1]);
});

test("who takes over fires only when what the dead owner sent can no longer commit", async () => {
  for (const seed of SEEDS) {
    const world = worldOf({ seed });
    world.call(world.process(0), wish("R", { fates: ["slow-late"] }));
    while (world.network.sends.length === 0) await world.time.step();
    world.process(0).freeze("stopped");
    await world.time.advance(TIMES.lease + 100);
    await finish(world, 1, wish("R"));
    await world.time.advance(2 * TIMES.commitsWithin);
    expect(world.service.effects).toHaveLength(1);
  }
});

test("a clock of the store that is set forward makes no absence a proof", async () => {
  for (const seed of SEEDS) {
    const world = worldOf({ seed });
    world.call(world.process(0), wish("R", { fates: ["late_commit"] }));
    while (!world.network.sends[0]?.heard) await world.time.step();
    world.store.stepClock(40_000);
    await world.time.advance(TIMES.deadline + TIMES.commitsWithin);
    expect(world.service.effects).toHaveLength(1);
  }
});

/** A tool that notifies first, and makes its effect when told to. */
function slow(world: World) {
  const { hf, host } = world.process(0).life();
  let go = () => {};
  const told = new Promise<void>((resolve) => {
    go = resolve;
  });
  const pay = hf.tool({
    name: "AN",
    kind: "write",
    attemptTimeoutMs: TIMES.attempt,
    intent: () => ({ what: "a" }),
    run: async ({ op }: { readonly op: string }, { attempt, signal }) => {
      await world.network.notify(host, "audit", 200);
      await told;
      const about = { op, attempt, host, signal, tool: "AN", resource: "a" } as const;
      const more = { key: undefined, precondition: undefined, heeds: false };
      await world.network.request({ ...about, ...more }, "ok");
    },
  });
  const call = (deadlineMs: number) =>
    pay.outcome({ op: "AN/s1/a/" }, { scope: "s1", deadlineMs, aliases: ["AN/s1/a/"] });
  return { call, go };
}

test("who joins a call gives its attempt no time to send that was not noted", async () => {
  const world = worldOf();
  const { call, go } = slow(world);
  const first = call(2_000);
  await world.time.advance(300);
  // From now on nothing can be noted.
  world.store.down("refuses");
  const second = call(TIMES.deadline);
  await world.time.advance(5_000);
  go();
  await during(world, Promise.all([first, second]));
  expect(world.network.sends).toEqual([]);
});

test("a host that slept past the time of its attempt sends nothing more of it", async () => {
  const world = worldOf();
  const { call, go } = slow(world);
  const paying = call(TIMES.deadline);
  await world.time.advance(300);
  world.process(0).freeze("suspended");
  await world.time.advance(60_000);
  go();
  await world.process(0).thaw("replies");
  await during(world, paying);
  expect(world.network.sends).toEqual([]);
});
