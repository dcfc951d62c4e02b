/** The queue before a lane, at its edges: tickets that are given back, renewed, or never given. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import type { Plan } from "../../src/engine/define/definition.ts";
import { engineOf } from "../../src/engine/engine-of.ts";
import { dropTicket } from "../../src/gate/lane.ts";
import { laneAlone } from "../../src/ledger/lane.ts";
import type { LaneRecord } from "../../src/ledger/store.ts";
import type { VirtualClock } from "../engine/virtual-clock.ts";
import { waiting } from "./bucket.ts";
import { type LaneWorld, nameOf, openLanes, type Tag, TENANT } from "./lane-world.ts";

const red: Tag = { record: "r1", tag: "red" };
const blue: Tag = { record: "r1", tag: "blue" };
const NAME = nameOf("r1");

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

const stored = async () => (await world.store.readLane(TENANT, NAME)).stored;
const laneOf = async () => (await stored())?.lane;
const put = async (lane: LaneRecord) =>
  world.store.swap(laneAlone(TENANT, { name: NAME, expect: (await stored())?.version ?? 0, lane }));
const ticket = (id: string, ms = 60_000) => ({ id, until: clock.now() + ms });
const drop = (id: string) => dropTicket({ tenant: TENANT, id }, NAME, engineOf(hf));

describe("a ticket that is given back", () => {
  test("leaves those before and after it as they are", async () => {
    await put({ queue: [ticket("a"), ticket("b"), ticket("c")] });
    await drop("b");
    expect(await laneOf()).toEqual({ queue: [ticket("a"), ticket("c")] });
  });

  test("leaves the lane to who is in it", async () => {
    await put({ holder: "h", inner: ["i"], queue: [ticket("a")] });
    await drop("a");
    expect(await laneOf()).toEqual({ holder: "h", inner: ["i"], queue: [] });
  });

  test("was the last thing in the lane: there is none any more", async () => {
    await put({ queue: [ticket("a")] });
    await drop("a");
    expect(await laneOf()).toBeUndefined();
  });

  test("and is not there changes nothing", async () => {
    await drop("a");
    expect(await laneOf()).toBeUndefined();
    await put({ holder: "h", queue: [ticket("b")] });
    const before = await stored();
    await drop("a");
    expect(await stored()).toEqual(before);
  });

  /** Others come in between, so many times. */
  const disturbed = (times: number): (() => number) => {
    const { swap } = world.store;
    let left = times;
    let tried = 0;
    Object.assign(world.store, {
      swap: async (change: Parameters<typeof swap>[0]) => {
        tried += 1;
        if (left > 0) {
          left -= 1;
          const current = await stored();
          const lane = current?.lane ?? { queue: [] };
          const more = { ...lane, queue: [...lane.queue, ticket(`other ${left}`)] };
          await swap(laneAlone(TENANT, { name: NAME, expect: current?.version ?? 0, lane: more }));
        }
        return swap(change);
      },
    });
    return () => tried;
  };

  test("is given back although the lane has changed meanwhile, and nobody else's is lost", async () => {
    await put({ queue: [ticket("a")] });
    disturbed(7);
    await drop("a");
    const queue = (await laneOf())?.queue ?? [];
    expect(queue.map(({ id }) => id)).toEqual([6, 5, 4, 3, 2, 1, 0].map((n) => `other ${n}`));
  });

  test("is left to expire when the lane changes eight times under it", async () => {
    await put({ queue: [ticket("a")] });
    const tried = disturbed(100);
    await drop("a");
    expect(tried()).toBe(8);
    expect((await laneOf())?.queue[0]).toEqual(ticket("a"));
  });
});

describe("who waits for long", () => {
  test("keeps its place by renewing its ticket, before it runs out and not all the time", async () => {
    world.takesMs = 20_000;
    const slow = world.tagger(hf, { attemptTimeoutMs: 60_000, deadlineMs: 60_000 });
    const first = slow(red, { scope: "s" });
    await clock.advance(10);
    const second = world.tagger(world.holdfire(), { deadlineMs: 60_000 })(blue, { scope: "s" });
    const untils = new Set<number>();
    for (let n = 0; n < 40; n += 1) {
      await clock.advance(400);
      const [mine] = (await laneOf())?.queue ?? [];
      expect((mine?.until ?? 0) - clock.now()).toBeGreaterThan(0);
      expect((mine?.until ?? 0) - clock.now()).toBeLessThanOrEqual(5_000);
      untils.add(mine?.until ?? 0);
    }
    // For 16 seconds, every 2.5 to 3.5 seconds.
    expect(untils.size).toBeGreaterThanOrEqual(5);
    expect(untils.size).toBeLessThanOrEqual(7);
    world.takesMs = 100;
    expect(await clock.run(Promise.all([first, second]))).toEqual(["red", "blue"]);
    expect(await laneOf()).toBeUndefined();
  });

  test("waits without a place where 128 wait already, and goes when they have gone", async () => {
    const others = Array.from({ length: 128 }, (_, n) => ticket(`w${n}`, 3_000));
    await put({ queue: others });
    const call = tag(red, { scope: "s" });
    await clock.advance(1_000);
    expect((await laneOf())?.queue).toEqual(others);
    expect(await clock.run(call)).toBe("red");
    expect(await laneOf()).toBeUndefined();
  });

  test("has given nothing back that it never had", async () => {
    const others = Array.from({ length: 128 }, (_, n) => ticket(`w${n}`));
    await put({ queue: others });
    const before = (await stored())?.version;
    const held = await clock.run(tag.outcome(red, { scope: "s", deadlineMs: 1_000 }));
    expect(held).toMatchObject({ status: "held", reason: "lane", blockedBy: "w0" });
    await clock.settle();
    expect((await stored())?.version).toBe(before);
  });
});

describe("a yes, and a wait for the lane", () => {
  test("what the person agreed to has changed meanwhile: it is asked about anew", async () => {
    let files = 1;
    const plan = (): Plan => ({
      changes: [{ type: "delete", target: NAME, before: { files } }],
    });
    const wipe = world.tagger(hf, { name: "wipe", kind: "destructive", plan });
    await clock.run(wipe.outcome(blue, { scope: "s" }));
    const { operation, digest } = await waiting(hf);
    await hf.approvals.approve(operation.id, { digest, by: "ana" });
    const writing = tag(red, { scope: "s" });
    await clock.advance(10);
    const call = wipe.outcome(blue, { scope: "s" });
    await clock.advance(10);
    files = 2;
    expect(await clock.run(call)).toMatchObject({ status: "held", reason: "approval" });
    await clock.run(writing);
    expect(world.written).toEqual(["red"]);
    expect((await waiting(hf)).shown).toMatchObject({ plan: plan() });
  });

  test("what the person agreed to is the same after it: it goes on the same yes", async () => {
    const wipe = world.tagger(hf, { name: "wipe", kind: "destructive" });
    await clock.run(wipe.outcome(blue, { scope: "s" }));
    const { operation, digest } = await waiting(hf);
    await hf.approvals.approve(operation.id, { digest, by: "ana" });
    const writing = tag(red, { scope: "s" });
    await clock.advance(10);
    expect(await clock.run(wipe.outcome(blue, { scope: "s" }))).toMatchObject({
      status: "committed",
    });
    await clock.run(writing);
    expect(world.written).toEqual(["red", "blue"]);
    expect(world.most).toBe(1);
  });
});
