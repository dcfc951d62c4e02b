import { beforeEach, describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import type { VirtualClock } from "../engine/virtual-clock.ts";
import { type LaneWorld, openLanes, type Tag } from "./lane-world.ts";

const red: Tag = { record: "r1", tag: "red" };
const blue: Tag = { record: "r1", tag: "blue" };
const IN = { scope: "s" };

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

const readsOf = () => world.store.asked.filter((step) => step === "read").length;

async function leaveUnknown(args: Tag): Promise<void> {
  world.fates.push("lose");
  expect(await clock.run(tag.outcome(args, IN))).toMatchObject({ status: "unknown" });
}

describe("while another is unknown in its lane", () => {
  test("one that is committed is told as committed, with its result", async () => {
    await clock.run(tag(red, IN));
    await leaveUnknown(blue);
    const again = await clock.run(tag.outcome(red, IN));
    expect(again).toMatchObject({ status: "committed", replayed: true, result: "red" });
    expect((await clock.run(tag.reply(red, IN))).message).toContain("Already done");
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("one that was rejected is told as rejected", async () => {
    const judged = world.tagger(hf, { classify: () => "rejected" });
    world.fates.push("refuse");
    await clock.run(judged.outcome(red, IN));
    await leaveUnknown(blue);
    expect(await clock.run(tag.outcome(red, IN))).toMatchObject({
      status: "not_applied",
      reason: "rejected",
    });
  });

  test("one that a person refused is told as denied", async () => {
    const drop = world.tagger(hf, { kind: "destructive", name: "drop" });
    await clock.run(drop.outcome(red, IN));
    const [asked] = (await hf.approvals.list()).items;
    const { operation, digest } = asked ?? expect.fail("Nobody was asked.");
    await hf.approvals.deny(operation.id, { digest, by: "ana" });
    await leaveUnknown(blue);
    expect(await clock.run(drop.outcome(red, IN))).toMatchObject({ status: "denied", by: "ana" });
  });

  test("one that would be fired is not, and that costs it one look at its own record", async () => {
    await leaveUnknown(blue);
    const before = readsOf();
    const blocked = await clock.run(tag.outcome(red, IN));
    expect(blocked).toMatchObject({ status: "held", reason: "lane", attempts: 0 });
    // The one in the way is looked at for a guess, for what the store says, and to name it.
    expect(readsOf() - before).toBe(3 + 1);
    expect(world.written).toEqual(["blue"]);
  });

  test("a caller's own key for another intent is a conflict", async () => {
    const key = "order-1";
    const run = async () => "done";
    const call = (args: Tag) =>
      clock.run(
        hf.run({ name: "own", kind: "write", key, args, resource: () => "record/r1", run }).then(
          () => "done",
          (error: { code?: string }) => error.code,
        ),
      );
    expect(await call(red)).toBe("done");
    await leaveUnknown({ record: "r1", tag: "lost" });
    expect(await call(blue)).toBe("ERR_HOLDFIRE_KEY_CONFLICT");
  });
});

describe("while another is being written", () => {
  test("one that is committed does not wait for it", async () => {
    await clock.run(tag(red, IN));
    world.takesMs = 8_000;
    const writing = tag.outcome(blue, IN);
    await clock.advance(10);
    const again = await clock.run(tag.outcome(red, { ...IN, deadlineMs: 2_000 }));
    expect(again).toMatchObject({ status: "committed", replayed: true });
    expect(world.written).toEqual(["red"]);
    expect(await clock.run(writing)).toMatchObject({ status: "committed" });
  });

  test("one that has been done elsewhere meanwhile is told so when its wait is over", async () => {
    await leaveUnknown(blue);
    const other = world.holdfire();
    const elsewhere = world.tagger(other, { resource: undefined });
    world.takesMs = 8_000;
    await hf.operations.resolve((await hf.operations.list({ open: true })).items[0]?.id ?? "", {
      as: "committed",
      by: "ana",
    });
    const green = tag.outcome({ record: "r1", tag: "green" }, IN);
    await clock.advance(10);
    const waits = tag.outcome(red, { ...IN, deadlineMs: 4_000 });
    await clock.advance(10);
    world.takesMs = 100;
    expect(await clock.run(elsewhere(red, IN))).toBe("red");
    expect(await clock.run(waits)).toMatchObject({ status: "committed", replayed: true });
    await clock.run(green);
    expect(world.begun.filter((one) => one === "red")).toHaveLength(1);
  });
});
