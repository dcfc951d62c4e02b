import { beforeEach, describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { LaneBlockedError } from "../../src/errors.ts";
import { laneAlone } from "../../src/ledger/lane.ts";
import type { VirtualClock } from "../engine/virtual-clock.ts";
import { type LaneWorld, nameOf, openLanes, type Tag, TENANT } from "./lane-world.ts";

let world: LaneWorld;
let clock: VirtualClock;
let hf: Holdfire;
let tag: GuardedTool<Tag, string>;

beforeEach(() => {
  world = openLanes();
  ({ clock } = world);
  hf = world.holdfire();
  tag = world.tagger(hf);
});

const red: Tag = { record: "r1", tag: "red" };
const blue: Tag = { record: "r1", tag: "blue" };
const laneOf = async (record = "r1") =>
  (await world.store.readLane(TENANT, nameOf(record))).stored?.lane;

describe("writes to one resource", () => {
  test("go one at a time, in the order in which they came, whatever process they are from", async () => {
    const tags = ["a", "b", "c", "d", "e"];
    const calls: Promise<string>[] = [];
    for (const one of tags) {
      const process = world.tagger(world.holdfire());
      calls.push(process({ record: "r1", tag: one }, { scope: `s-${one}` }));
      await clock.advance(10);
    }
    await clock.run(Promise.all(calls));
    expect(world.most).toBe(1);
    expect(world.written).toEqual(tags);
    expect(await laneOf()).toBeUndefined();
  });

  test("from one process wait for each other as well", async () => {
    await clock.run(Promise.all([tag(red, { scope: "s" }), tag(blue, { scope: "s" })]));
    expect(world.most).toBe(1);
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("wait for each other also where its name is written in two forms of Unicode", async () => {
    const process = world.tagger(world.holdfire());
    const composed = tag({ record: "caf\u00e9", tag: "red" }, { scope: "s" });
    const decomposed = process({ record: "cafe\u0301", tag: "blue" }, { scope: "s" });
    await clock.run(Promise.all([composed, decomposed]));
    expect([world.most, world.written]).toEqual([1, ["red", "blue"]]);
    for (const record of ["caf\u00e9", "cafe\u0301"]) {
      const { items } = await hf.operations.list({ resource: nameOf(record) });
      expect(items).toHaveLength(2);
    }
  });

  test("do not keep those to another resource, or of another tenant", async () => {
    const other = world.tagger(hf.forTenant("other"));
    const calls = [
      tag(red, { scope: "s" }),
      tag({ record: "r2", tag: "blue" }, { scope: "s" }),
      other({ record: "r1", tag: "green" }, { scope: "s" }),
    ];
    await clock.advance(50);
    expect(world.begun).toEqual(["red", "blue", "green"]);
    await clock.run(Promise.all(calls));
  });

  test("cost no more than others while nobody else wants it", async () => {
    await clock.run(tag(red, { scope: "s" }));
    expect(world.store.asked).toEqual(["open", "swap:claimed", "swap:committed"]);
  });

  test("a tool without a resource asks nothing more", async () => {
    const free = world.tagger(hf, { name: "free", resource: undefined, onDrift: undefined });
    await clock.run(free(red, { scope: "s" }));
    expect(world.store.asked).toEqual(["open", "swap:claimed", "swap:committed"]);
  });

  test("one that is rejected leaves the lane", async () => {
    world.fates.push("refuse");
    const judged = world.tagger(hf, { classify: () => "rejected" });
    expect(await clock.run(judged.outcome(red, { scope: "s" }))).toMatchObject({
      status: "not_applied",
    });
    expect(await laneOf()).toBeUndefined();
    await clock.run(tag(blue, { scope: "s" }));
    expect(world.written).toEqual(["blue"]);
  });

  test("the same call made twice is one operation in the lane, and both are told", async () => {
    const other = world.tagger(world.holdfire());
    const both = [tag(red, { scope: "s" }), other(red, { scope: "s" })];
    expect(await clock.run(Promise.all(both))).toEqual(["red", "red"]);
    expect(world.written).toEqual(["red"]);
    expect(await laneOf()).toBeUndefined();
  });

  test("a settled one is replayed while another is being written", async () => {
    await clock.run(tag(red, { scope: "s" }));
    const writing = tag(blue, { scope: "s" });
    await clock.advance(10);
    const other = world.tagger(world.holdfire());
    const replay = await other.outcome(red, { scope: "s" });
    expect(replay).toMatchObject({ status: "committed", replayed: true });
    await clock.run(writing);
  });
});

describe("while one is unknown", () => {
  beforeEach(async () => {
    world.fates.push("lose");
    expect(await clock.run(tag.outcome(red, { scope: "s" }))).toMatchObject({ status: "unknown" });
  });

  test("no other goes: it is told at once which is in the way and how to settle it", async () => {
    const [unknown] = (await hf.operations.list({ open: true })).items;
    const other = world.tagger(world.holdfire());
    const error = await clock.run(other(blue, { scope: "s2" }).catch((thrown) => thrown));
    expect(error).toBeInstanceOf(LaneBlockedError);
    expect(error).toMatchObject({ blockedBy: unknown?.id, resource: "record/r1" });
    expect(error.message).toContain(`hf.operations.resolve("${unknown?.id}"`);
    expect(clock.monotonic()).toBeLessThan(1_000);
    expect(world.written).toEqual(["red"]);
    expect((await laneOf())?.queue).toEqual([]);
    expect(await other.outcome(blue, { scope: "s2" })).toMatchObject({
      status: "held",
      reason: "lane",
    });
  });

  test.each(["committed", "not_applied"] as const)("a person's word (%s) opens it", async (as) => {
    const [unknown] = (await hf.operations.list({ open: true })).items;
    await hf.operations.resolve(unknown?.id ?? "", { as, by: "ana" });
    expect(await laneOf()).toBeUndefined();
    await clock.run(tag(blue, { scope: "s2" }));
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("the same call may read it, and opens it by what it finds", async () => {
    const reads = { readState: async () => committed("red") };
    const other = world.tagger(world.holdfire(), reads);
    expect(await clock.run(other(red, { scope: "s" }))).toBe("red");
    expect(await laneOf()).toBeUndefined();
    await clock.run(tag(blue, { scope: "s2" }));
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("reconcile may read it, and opens it by what it finds", async () => {
    const other = world.holdfire();
    world.tagger(other, { readState: async () => committed("red") });
    await clock.run(other.reconcile());
    expect(await laneOf()).toBeUndefined();
    await clock.run(tag(blue, { scope: "s2" }));
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("a look that finds nothing out leaves it shut", async () => {
    const other = world.tagger(world.holdfire(), { readState: async () => absent() });
    expect(await clock.run(other.outcome(red, { scope: "s" }))).toMatchObject({
      status: "unknown",
    });
    expect(await clock.run(other.outcome(blue, { scope: "s2" }))).toMatchObject({
      reason: "lane",
    });
    expect(world.written).toEqual(["red"]);
  });

  test("another record is nobody's business", async () => {
    await clock.run(tag({ record: "r2", tag: "blue" }, { scope: "s2" }));
    expect(world.written).toEqual(["red", "blue"]);
  });
});

test("a late reply opens the lane", async () => {
  world.takesMs = 15_000;
  const slow = world.tagger(hf, { attempts: 1 });
  const left = await clock.run(slow.outcome(red, { scope: "s", deadlineMs: 1_000 }));
  expect(left).toMatchObject({ status: "in_progress", reason: "still_running" });
  expect(await clock.run(tag.outcome(blue, { scope: "s2" }))).toMatchObject({ reason: "lane" });
  await clock.advance(20_000);
  expect(world.written).toEqual(["red"]);
  world.takesMs = 100;
  await clock.run(tag(blue, { scope: "s2" }));
  expect(world.most).toBe(1);
});

describe("a process that dies", () => {
  test("in the lane: those who wait go on waiting while it may live, then are told", async () => {
    void tag.outcome(red, { scope: "s" });
    world.takesMs = 1e9;
    await clock.settle();
    const { items } = await hf.operations.list({ open: true });
    // Nothing renews its lease any more.
    world.store.fail(
      "rejects",
      (step, change) => step.startsWith("swap") && change?.id === items[0]?.id,
    );
    const other = world.tagger(world.holdfire());
    const before = clock.monotonic();
    const told = await clock.run(other.outcome(blue, { scope: "s2" }));
    expect(told).toMatchObject({ status: "held", reason: "lane", blockedBy: items[0]?.id });
    // The lease is 5 s, the wait 30 s.
    expect(clock.monotonic() - before).toBeGreaterThan(4_000);
    expect(clock.monotonic() - before).toBeLessThan(8_000);
  });

  test("in the queue: its ticket runs out, and the next is not kept", async () => {
    const until = clock.now() + 5_000;
    const lane = { queue: [{ id: "dead", until }] };
    await world.store.swap(laneAlone(TENANT, { name: nameOf("r1"), expect: 0, lane }));
    await clock.run(tag(red, { scope: "s" }));
    expect(clock.now()).toBeGreaterThanOrEqual(until);
    expect(clock.now()).toBeLessThan(until + 2_000);
    expect(await laneOf()).toBeUndefined();
  });

  test("after its claim was withdrawn: a lane without a record behind it is free", async () => {
    const lane = { holder: "gone", queue: [] };
    await world.store.swap(laneAlone(TENANT, { name: nameOf("r1"), expect: 0, lane }));
    await clock.run(tag(red, { scope: "s" }));
    expect(world.written).toEqual(["red"]);
    expect(await laneOf()).toBeUndefined();
  });
});

describe("who waits", () => {
  test("waits no longer than its own deadline", async () => {
    world.takesMs = 9_000;
    const first = tag(red, { scope: "s" });
    await clock.advance(10);
    const told = await Promise.race([
      tag.outcome(blue, { scope: "s", deadlineMs: 2_000 }),
      clock.advance(3_000).then(() => "still waiting"),
    ]);
    expect(told).toMatchObject({ status: "held", reason: "lane" });
    await clock.run(first);
    expect(world.written).toEqual(["red"]);
    expect(await laneOf()).toBeUndefined();
  });

  test("waits 30 seconds and no longer", async () => {
    world.takesMs = 100_000;
    const long = world.tagger(hf, { attemptTimeoutMs: 120_000, deadlineMs: 200_000 });
    const first = long(red, { scope: "s" });
    await clock.advance(10);
    const told = await Promise.race([
      long.outcome(blue, { scope: "s" }),
      clock.advance(31_500).then(() => "still waiting"),
    ]);
    expect(told).toMatchObject({ status: "held", reason: "lane" });
    await clock.run(first);
  });

  test("may stop: nothing was sent, and its place is given back", async () => {
    const first = tag(red, { scope: "s" });
    await clock.advance(10);
    const stop = new AbortController();
    const second = tag.outcome(blue, { scope: "s", signal: stop.signal });
    await clock.advance(10);
    expect((await laneOf())?.queue).toHaveLength(1);
    stop.abort();
    expect(await second).toMatchObject({ status: "not_applied", reason: "aborted" });
    await clock.settle();
    expect((await laneOf())?.queue).toEqual([]);
    await clock.run(first);
    expect(world.written).toEqual(["red"]);
    expect((await hf.operations.list()).items).toHaveLength(1);
  });

  test("is not overtaken by one that comes when the lane is free", async () => {
    world.takesMs = 1_000;
    const first = tag(red, { scope: "s" });
    await clock.advance(10);
    const second = world.tagger(world.holdfire())(blue, { scope: "s" });
    await clock.advance(900);
    const third = world.tagger(world.holdfire())({ record: "r1", tag: "late" }, { scope: "s" });
    await clock.run(Promise.all([first, second, third]));
    expect(world.written).toEqual(["red", "blue", "late"]);
  });
});

describe("an operation made inside another", () => {
  const outerOf = (inner: () => Promise<unknown>, options: object = {}) =>
    hf.tool({
      name: "outer",
      kind: "write",
      onDrift: "allow",
      resource: () => nameOf("r1"),
      attempts: 1,
      ...options,
      run: async (_: { readonly wish: string }) => {
        await inner();
        return "done";
      },
    });

  test("shares its lane", async () => {
    const outer = outerOf(() => Promise.all([tag(red), tag(blue)]));
    expect(await clock.run(outer({ wish: "both" }, { scope: "s" }))).toBe("done");
    expect(world.written).toEqual(["red", "blue"]);
    expect(await laneOf()).toBeUndefined();
  });

  test("keeps the lane when it is unknown and the outer one is done", async () => {
    world.fates.push("lose");
    const outer = outerOf(() => tag(red).catch(() => {}));
    expect(await clock.run(outer({ wish: "both" }, { scope: "s" }))).toBe("done");
    const [unknown] = (await hf.operations.list({ open: true })).items;
    expect(await laneOf()).toEqual({ holder: unknown?.id, queue: [] });
    expect(await clock.run(tag.outcome(blue, { scope: "s" }))).toMatchObject({
      reason: "lane",
      blockedBy: unknown?.id,
    });
  });

  test("does not wait for another lane: it fails, and the outer one tells", async () => {
    world.takesMs = 20_000;
    const writing = world.tagger(hf, { attemptTimeoutMs: 60_000 });
    const long = writing({ record: "r2", tag: "long" }, { scope: "s" });
    await clock.advance(10);
    const before = clock.monotonic();
    const outer = outerOf(() => tag({ record: "r2", tag: "inner" }));
    const error = await clock.run(outer({ wish: "x" }, { scope: "s" }).catch((thrown) => thrown));
    expect(error).toBeInstanceOf(LaneBlockedError);
    expect(clock.monotonic() - before).toBeLessThan(1_000);
    await clock.run(long);
    expect(world.written).toEqual(["long"]);
    expect(await laneOf()).toBeUndefined();
  });

  test("waits like any other if nobody around it has a lane", async () => {
    const first = tag(red, { scope: "s" });
    await clock.advance(10);
    const outer = outerOf(() => tag(blue), { name: "free", resource: undefined });
    await clock.run(Promise.all([first, outer({ wish: "x" }, { scope: "s" })]));
    expect(world.written).toEqual(["red", "blue"]);
    expect(world.most).toBe(1);
  });
});
