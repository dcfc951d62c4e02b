/** Sequences that the simulation once broke the engine with, kept as they were shrunk. */

import { expect, test } from "vitest";
import { describeAll, judge } from "./judge.ts";
import { finish } from "./liveness.ts";
import { createHits } from "./world/fates.ts";
import { TIMES } from "./world/settings.ts";
import { type CallSpec, createWorld, type World } from "./world/world.ts";

const hits = createHits();
const worldOf = (seed = 1): World => createWorld({ seed, hits });
const wish = (tool: CallSpec["tool"], more: Partial<CallSpec> = {}): CallSpec => ({
  tool,
  scope: "s1",
  what: "a",
  ...more,
});
const findings = async (world: World): Promise<string> => describeAll(await judge(world, hits));

test("a call that is aborted before its claim is told what the ledger knows", async () => {
  const world = worldOf();
  await finish(world, 0, wish("CR"));
  const again = await finish(world, 0, wish("CR", { abortAfter: 0 }));
  expect(again.outcome?.status).toBe("committed");
});

test("an aborted call with another intent under the same key is a conflict", async () => {
  const world = worldOf();
  await finish(world, 0, wish("N", { key: "k1" }));
  const other = await finish(world, 0, wish("N", { key: "k1", what: "b", abortAfter: 0 }));
  expect(other.outcome?.status).toBe("conflict");
});

test("an execution that winds down is not joined by another intent under the same key", async () => {
  const told = new Set<string | undefined>();
  for (let seed = 1; seed <= 20; seed += 1) {
    const world = worldOf(seed);
    world.call(world.process(0), wish("K", { key: "k1", heeds: false, abortAfter: 45 }));
    await world.time.advance(60);
    // Where the first call was stopped before its claim, the key is free.
    if (world.network.sends.length === 0) continue;
    const other = await finish(world, 0, wish("K", { key: "k1", what: "b", heeds: false }));
    told.add(other.outcome?.status);
  }
  expect([...told]).toEqual(["conflict"]);
});

test("a yes that came too late and could not be verified still forbids to fire again", async () => {
  const world = worldOf();
  const lie = wish("L", { fates: ["lie-slow"], deadlineMs: 900, heeds: false });
  await finish(world, 0, lie);
  await world.time.advance(TIMES.deadline);
  world.process(0).crash();
  const again = await finish(world, 0, wish("L"));
  expect([again.outcome?.status, world.network.sends.length]).toEqual(["unknown", 1]);
});

test("a late yes is seen by whoever has taken over meanwhile", async () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const world = worldOf(seed);
    const lie = wish("L", { fates: ["lie-slow"], reads: ["cannot_tell"], heeds: false });
    world.call(world.process(0), lie);
    world.call(world.process(1), wish("L"));
    await world.time.advance(2 * TIMES.deadline);
    expect(await findings(world)).toBe("");
  }
});

test("a host that slept past the memory of a key does not resend on it", async () => {
  const world = worldOf(3);
  world.call(world.process(0), wish("K", { fates: ["lost_reply"] }));
  await world.time.advance(70);
  world.process(0).freeze("suspended");
  await world.time.advance(TIMES.keyMemory + 1_000);
  await world.process(0).thaw("replies");
  await world.time.advance(TIMES.deadline);
  expect(world.service.effects).toHaveLength(1);
});

test("an attempt that was slept through has ended when the host woke, not before", async () => {
  for (const seed of [1, 3, 4, 5]) {
    const world = worldOf(seed);
    world.call(world.process(0), wish("R", { fates: ["slow-late"], deadlineMs: 1_650 }));
    await world.time.advance(700);
    world.process(0).freeze("suspended");
    await world.time.advance(3_500);
    await world.process(0).thaw("replies");
    await world.time.advance(1_200);
    world.call(world.process(1), wish("R"));
    await world.time.advance(2 * TIMES.deadline);
    expect(world.service.effects).toHaveLength(1);
  }
});

test("a store that goes down while a zombie files its yes keeps no caller waiting", async () => {
  for (let wait = 0; wait < 60; wait += 3) {
    const world = worldOf();
    const call = world.call(world.process(0), wish("R"));
    while (world.network.sends.length === 0) await world.time.step();
    world.process(0).freeze("stopped");
    await world.time.advance(TIMES.lease + 500);
    world.call(world.process(1), wish("R"));
    await world.time.advance(3_000);
    await world.process(0).thaw("replies");
    await world.time.advance(wait);
    world.store.down("refuses");
    await world.time.advance(2 * TIMES.deadline);
    expect(call.outcome?.status).toBe("committed");
  }
});

test("a claim that is taken back while its lease is renewed makes nobody doubt the store", async () => {
  for (let seed = 0; seed < 8; seed += 1) {
    const world = createWorld({ seed, hits, syncMs: 120 });
    const withdrawn = wish("HN", { key: "k1", abortAfter: 45, store: ["ok", "ok", "refuse"] });
    world.call(world.process(0), withdrawn);
    await world.time.advance(7_000);
    const other = await finish(world, 0, wish("HN"));
    expect(other.outcome?.status).toBe("committed");
  }
});

test("an operation that ran out of time after an absence is told as absent, and fires again", async () => {
  const world = createWorld({ seed: -32_589_145, hits });
  world.call(world.process(0), wish("HR", { fates: ["busy"], heeds: false, deadlineMs: 4_000 }));
  world.call(world.process(0), wish("HR", { scope: "s2", heeds: false }));
  await world.time.advance(14_000);
  world.call(world.process(0), wish("HR", { heeds: false }));
  await world.time.advance(150);
  world.process(0).freeze("stopped");
  await world.time.advance(40_000);
  await world.process(0).thaw("timers");
  expect(await findings(world)).toBe("");
});

test("an error of an inner operation is not told as an answer of the service", async () => {
  const world = createWorld({ seed: 0, hits, syncMs: 120 });
  for (const [more, fate] of [
    [{ again: "x" }, "error-before"],
    [{}, "late_commit"],
    [{ key: "k1" }, "lost-request"],
  ] as const) {
    world.call(world.process(0), wish("X", { ...more, fates: ["ok", fate], heeds: false }));
  }
  await world.time.advance(14_000);
  expect(await findings(world)).toBe("");
});

test("where no byte has left, no reply is told as lost", async () => {
  const world = worldOf();
  const call = await finish(world, 0, wish("HN", { fates: ["not-sent"], manner: "wraps" }));
  expect(call.words).toMatch(/No HTTP request was seen to leave/);
});

test("an owner whose record was evicted before it fired leaves nothing that could not be fired again", async () => {
  const world = createWorld({ seed: 480_796_365, hits, syncMs: 120, forgets: true });
  world.call(world.process(0), wish("KR", { heeds: false, reads: ["slow", "slow"] }));
  await world.time.advance(1_600);
  for (const record of await world.store.dump()) await world.store.evict(record);
  await world.time.advance(2 * TIMES.deadline);
  const again = await finish(world, 0, wish("KR"));
  expect(again.outcome?.status).toBe("committed");
});

test("a host that slept while more time was noted for its attempt does not fire it after another has", async () => {
  let met = 0;
  for (let seed = 1; seed <= 10; seed += 1) {
    const world = worldOf(seed);
    const owner = world.process(0);
    world.call(owner, wish("R", { store: ["ok", "slow"] }));
    await world.time.advance(20);
    owner.freeze("suspended");
    await world.time.advance(2_500);
    await owner.thaw("timers");
    const endsBy = () => world.store.history.at(-1)?.after?.attempts[0]?.endsBy ?? 0;
    const before = endsBy();
    for (let step = 0; step < 400 && endsBy() === before; step += 1) await world.time.step();
    if (endsBy() === before || world.network.sends.length > 0) continue;
    met += 1;
    owner.freeze("suspended");
    world.call(world.process(1), wish("R"));
    await world.time.advance(TIMES.deadline);
    await owner.thaw("replies");
    await world.time.advance(TIMES.deadline);
    expect(world.service.effects).toHaveLength(1);
  }
  expect(met).toBeGreaterThan(0);
});

test("an attempt of what is done by now gets no more time to send", async () => {
  const world = createWorld({ seed: -1_892_406_408, hits, syncMs: 120 });
  const lost = wish("HK", { key: "k1", fates: ["lost-request", "lost_reply"], heeds: false });
  world.call(world.process(1), lost);
  await world.time.advance(14_000);
  world.call(world.process(0), wish("HK", { heeds: false }));
  const more = { scope: "s2", deadlineMs: 4_000, heeds: false, manner: "notifies" } as const;
  world.call(world.process(0), wish("HK", { ...more, fates: ["lost-request"] }));
  await world.time.advance(6_500);
  expect(await findings(world)).toBe("");
});
