import { beforeEach, describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import { absent, committed } from "../../src/engine/define/reading.ts";
import type { NamedCallOptions } from "../../src/engine/operation/operation.ts";
import { DeniedError } from "../../src/errors.ts";
import type { VirtualClock } from "../engine/virtual-clock.ts";
import { waiting } from "./bucket.ts";
import { type LaneWorld, openLanes, type Tag } from "./lane-world.ts";

let world: LaneWorld;
let clock: VirtualClock;
let hf: Holdfire;
let tag: GuardedTool<Tag, string>;

const HOLD = { onDrift: undefined };
const red: Tag = { record: "r1", tag: "red" };
const blue: Tag = { record: "r1", tag: "blue" };

beforeEach(() => {
  world = openLanes();
  ({ clock } = world);
  hf = world.holdfire();
  tag = world.tagger(hf, HOLD);
});

/** One run of the scope: what a process does until it ends. */
const inRun = <T>(run: string, calls: () => Promise<T>): Promise<T> =>
  clock.run(hf.scope("turn-3", calls, { run }));

describe("another intent on the same resource, in one scope", () => {
  test("is one of several in the same run", async () => {
    await inRun("1", async () => {
      await tag(red);
      await tag(blue);
      await tag({ record: "r1", tag: "green" });
    });
    expect(world.written).toEqual(["red", "blue", "green"]);
  });

  test("also side by side: the lane keeps them apart", async () => {
    await inRun("1", () => Promise.all([tag(red), tag(blue)]));
    expect(world.written.toSorted()).toEqual(["blue", "red"]);
    expect(world.most).toBe(1);
  });

  test("is held in another run, which has not repeated the first", async () => {
    await inRun("1", () => tag(red));
    const held = await inRun("2", () => tag.outcome(blue));
    expect(held).toMatchObject({ status: "held", reason: "drift" });
    expect(world.written).toEqual(["red"]);
    const question = await waiting(hf);
    const [first] = (await hf.operations.list({ status: ["committed"] })).items;
    expect(question.shown).toMatchObject({ drift: { from: first?.id, why: "earlier_run" } });
    expect(question.why).toBe("drift");
  });

  test("is held in another process, and a person's yes lets it go there once", async () => {
    await inRun("1", () => tag(red));
    hf = world.holdfire();
    tag = world.tagger(hf, HOLD);
    expect(await inRun("2", () => tag.outcome(blue))).toMatchObject({ reason: "drift" });
    const { operation, digest } = await waiting(hf);
    await hf.approvals.approve(operation.id, { digest, by: "ana" });
    hf = world.holdfire();
    tag = world.tagger(hf, HOLD);
    expect(await inRun("3", () => tag(blue))).toBe("blue");
    expect(await inRun("3", () => tag(blue))).toBe("blue");
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("a person's no is final", async () => {
    await inRun("1", () => tag(red));
    await inRun("2", () => tag.outcome(blue));
    const { operation, digest } = await waiting(hf);
    await hf.approvals.deny(operation.id, { digest, by: "ana" });
    expect(await inRun("2", () => tag.outcome(blue))).toMatchObject({ status: "denied" });
    expect(world.written).toEqual(["red"]);
  });

  test("goes in another run that has repeated the first", async () => {
    await inRun("1", () => tag(red));
    await inRun("2", async () => {
      await tag(red);
      await tag(blue);
    });
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("both are replayed in another run, in whatever order", async () => {
    await inRun("1", async () => {
      await tag(red);
      await tag(blue);
    });
    hf = world.holdfire();
    tag = world.tagger(hf, HOLD);
    const again = await inRun("2", async () => [await tag.outcome(blue), await tag.outcome(red)]);
    expect(again).toMatchObject([{ replayed: true }, { replayed: true }]);
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("goes where the first came to nothing", async () => {
    world.fates.push("refuse");
    const judged = world.tagger(hf, { ...HOLD, classify: () => "rejected" });
    await inRun("1", () => judged.outcome(red));
    await inRun("2", () => tag(blue));
    expect(world.written).toEqual(["blue"]);
  });

  test("is held while the first is unknown, also in the same run", async () => {
    world.fates.push("lose");
    const told = await inRun("1", async () => [await tag.outcome(red), await tag.outcome(blue)]);
    expect(told).toMatchObject([{ status: "unknown" }, { status: "held", reason: "drift" }]);
    expect((await waiting(hf)).shown).toMatchObject({ drift: { why: "unsettled" } });
  });

  test("a yes to it gives up the one that is unknown, and opens its lane", async () => {
    world.fates.push("lose");
    await inRun("1", async () => [await tag.outcome(red), await tag.outcome(blue)]);
    const { operation, digest } = await waiting(hf);
    await hf.approvals.approve(operation.id, { digest, by: "ana" });
    const [unknown] = (await hf.operations.list({ status: ["unknown"] })).items;
    expect(await inRun("1", () => tag(blue))).toBe("blue");
    expect(await inRun("1", () => tag.outcome(red))).toMatchObject({ reason: "abandoned" });
    await hf.operations.resolve(unknown?.id ?? "", { as: "committed", by: "ana" });
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("one that was given up is no drift, and is not asked about again", async () => {
    world.fates.push("lose");
    await inRun("1", async () => [await tag.outcome(red), await tag.outcome(blue)]);
    const { operation, digest } = await waiting(hf);
    await hf.approvals.approve(operation.id, { digest, by: "ana" });
    await inRun("1", () => tag(blue));
    expect(await inRun("1", () => tag({ record: "r1", tag: "green" }))).toBe("green");
  });

  test("goes after the first where that is under way in the same run: the lane keeps them apart", async () => {
    const both = inRun("1", async () => {
      const first = tag(red);
      await clock.advance(10);
      return Promise.all([first, tag(blue)]);
    });
    expect(await both).toEqual(["red", "blue"]);
    expect(world.most).toBe(1);
  });

  test("is held while the first is under way in another run", async () => {
    const first = hf.scope("turn-3", () => tag(red), { run: "1" });
    await clock.advance(10);
    expect(await inRun("2", () => tag.outcome(blue))).toMatchObject({ reason: "drift" });
    expect((await waiting(hf)).shown).toMatchObject({ drift: { why: "unsettled", intent: red } });
    expect(await clock.run(first)).toBe("red");
    expect(world.written).toEqual(["red"]);
  });

  test("is held where the first was under way in the same run, and its process has died", async () => {
    world.takesMs = 1e9;
    void hf.scope("turn-3", () => tag.outcome(red), { run: "1" });
    await clock.settle();
    const [first] = (await hf.operations.list({ open: true })).items;
    // Nothing renews its lease any more.
    world.store.fail(
      "rejects",
      (step, change) => step.startsWith("swap") && change?.id === first?.id,
    );
    await clock.advance(6_000);
    hf = world.holdfire();
    tag = world.tagger(hf, HOLD);
    expect(await inRun("1", () => tag.outcome(blue))).toMatchObject({ reason: "drift" });
    expect((await waiting(hf)).shown).toMatchObject({ drift: { from: first?.id } });
  });

  test("asked anew when nothing is in the way any more, the question shows no drift", async () => {
    await inRun("1", () => tag(red));
    await inRun("2", async () => {
      await tag.outcome(blue);
      await tag(red);
    });
    await clock.advance(2 * 86_400_000);
    await inRun("2", () => tag.outcome(blue));
    const { why, shown } = await waiting(hf);
    expect(why).toBe("drift");
    expect(shown).toMatchObject({ args: blue });
    expect(shown).not.toHaveProperty("drift");
  });

  test("without a scope there is no drift: the lane alone keeps it", async () => {
    world.fates.push("lose");
    const order = (key: string): NamedCallOptions => ({ key });
    await clock.run(tag.outcome(red, order("1")));
    expect(await clock.run(tag.outcome(blue, order("2")))).toMatchObject({
      status: "held",
      reason: "lane",
    });
  });

  test("one that an unknown first is read for goes on in the run that read it", async () => {
    world.fates.push("lose");
    await inRun("1", () => tag.outcome(red));
    const readState = async ({ intent }: { intent: Tag }) =>
      intent.tag === "red" ? committed("red") : absent();
    const reads = world.tagger(hf, { ...HOLD, readState });
    await inRun("2", async () => {
      await reads(red);
      await reads(blue);
    });
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("stays a question until a person answers, also when its reason is gone", async () => {
    await inRun("1", () => tag(red));
    await inRun("2", async () => {
      await tag.outcome(blue);
      await tag(red);
    });
    expect(await inRun("2", () => tag.outcome(blue))).toMatchObject({ reason: "drift" });
    await clock.advance(2 * 86_400_000);
    // Expired: it is asked anew.
    expect(await inRun("2", () => tag.outcome(blue))).toMatchObject({ reason: "drift" });
    const { operation, digest } = await waiting(hf);
    await hf.approvals.approve(operation.id, { digest, by: "ana" });
    await inRun("2", () => tag(blue));
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("nobody minds other resources, scopes, tools, or the caller's own key", async () => {
    await inRun("1", () => tag(red));
    const other = world.tagger(hf, { ...HOLD, name: "other" });
    await inRun("2", async () => {
      await tag({ record: "r2", tag: "a" });
      await other({ record: "r1", tag: "b" });
    });
    await clock.run(tag({ record: "r1", tag: "c" }, { scope: "elsewhere" }));
    expect(world.written).toEqual(["red", "a", "b", "c"]);
  });

  test("more than a few in one run cost no more and more looks", async () => {
    const asked = () => world.store.asked.filter((step) => step.startsWith("read")).length;
    const costs: number[] = [];
    await inRun("1", async () => {
      for (let n = 0; n < 20; n += 1) {
        const before = asked();
        await tag({ record: "r1", tag: `t${n}` });
        costs.push(asked() - before);
      }
    });
    expect(world.written).toHaveLength(20);
    expect(costs.at(-1)).toBe(costs.at(2));
  });
});

describe("onDrift", () => {
  test("allow: it goes, and nothing is looked up", async () => {
    const free = world.tagger(hf, { onDrift: "allow" });
    await inRun("1", () => free(red));
    await inRun("2", () => free(blue));
    expect(world.written).toEqual(["red", "blue"]);
    expect(world.store.asked.filter((step) => step.startsWith("own"))).toEqual([]);
  });

  test("refuse: it is denied, and nobody is asked", async () => {
    const strict = world.tagger(hf, { onDrift: "refuse" });
    await inRun("1", () => strict(red));
    const error = await inRun("2", () => strict(blue).catch((thrown: unknown) => thrown));
    expect(error).toBeInstanceOf(DeniedError);
    expect((await hf.approvals.list()).items).toEqual([]);
    const { outcome, message } = await inRun("2", () => strict.reply(blue));
    expect(outcome).toBe("denied");
    // Nobody was asked, so nobody said no.
    expect(message).not.toContain("person");
    expect(message).toContain("its tool refuses that. Nothing was sent.");
    expect(world.written).toEqual(["red"]);
    await inRun("1", () => strict(blue));
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("refuse: what is settled is replayed and what is open is read, whatever else was done", async () => {
    const strict = world.tagger(hf, { onDrift: "refuse" });
    world.fates.push("commit", "lose");
    await inRun("1", async () => [await strict.outcome(red), await strict.outcome(blue)]);
    expect(await inRun("2", () => strict.outcome(red))).toMatchObject({
      status: "committed",
      replayed: true,
    });
    expect(await inRun("2", () => strict.outcome(blue))).toMatchObject({ status: "unknown" });
    expect(await inRun("2", () => strict.outcome({ record: "r1", tag: "x" }))).toMatchObject({
      status: "denied",
    });
  });

  test("anything else is refused when the tool is made", () => {
    expect(() => world.tagger(hf, { onDrift: "maybe" })).toThrow("onDrift");
  });

  test("a destructive tool asks once, and shows the drift", async () => {
    const drop = world.tagger(hf, { ...HOLD, kind: "destructive", name: "drop" });
    await inRun("1", () => drop.outcome(red));
    const first = await waiting(hf);
    await hf.approvals.approve(first.operation.id, { digest: first.digest, by: "ana" });
    await inRun("1", () => drop(red));
    expect(await inRun("2", () => drop.outcome(blue))).toMatchObject({ reason: "approval" });
    const second = await waiting(hf);
    expect(second.shown).toMatchObject({ drift: { from: first.operation.id } });
    await hf.approvals.approve(second.operation.id, { digest: second.digest, by: "ana" });
    expect(await inRun("2", () => drop(blue))).toBe("blue");
  });
});

describe("another version of a tool", () => {
  const version = (of: string) => world.tagger(hf, { ...HOLD, resource: undefined, version: of });

  test("that has left something open in the scope holds the next", async () => {
    world.fates.push("lose");
    await inRun("1", () => version("1").outcome(red));
    expect(await inRun("1", () => version("2").outcome(blue))).toMatchObject({
      status: "held",
      reason: "drift",
    });
    const [unknown] = (await hf.operations.list({ status: ["unknown"] })).items;
    expect((await waiting(hf)).shown).toMatchObject({
      drift: { from: unknown?.id, why: "version" },
    });
    expect(world.written).toEqual(["red"]);
  });

  test("is no matter once that is settled, in another scope, or for the same version", async () => {
    world.fates.push("lose");
    await inRun("1", () => version("1").outcome(red));
    await inRun("1", () => version("1")(blue));
    await clock.run(version("2")({ record: "r1", tag: "a" }, { scope: "elsewhere" }));
    const [unknown] = (await hf.operations.list({ status: ["unknown"] })).items;
    await hf.operations.resolve(unknown?.id ?? "", { as: "committed", by: "ana" });
    await inRun("1", () => version("2")({ record: "r1", tag: "b" }));
    expect(world.written).toEqual(["red", "blue", "a", "b"]);
  });

  test("goes with a person's yes, once", async () => {
    world.fates.push("lose");
    await inRun("1", () => version("1").outcome(red));
    await inRun("1", () => version("2").outcome(blue));
    const { operation, digest } = await waiting(hf);
    await hf.approvals.approve(operation.id, { digest, by: "ana" });
    expect(await inRun("1", () => version("2")(blue))).toBe("blue");
    expect(await inRun("1", () => version("2").outcome(blue))).toMatchObject({ replayed: true });
    // It is not given up: the versions may do different things.
    expect(await hf.operations.list({ status: ["unknown"] })).toMatchObject({ items: [{}] });
    expect(world.written).toEqual(["red", "blue"]);
  });

  test("that has asked about the very same call is no drift: it is asked about anew", async () => {
    const options = { ...HOLD, name: "wipe", kind: "destructive", resource: undefined };
    const wipe = (of: string) => world.tagger(hf, { ...options, version: of });
    const { id } = await inRun("1", () => wipe("1").outcome(red));
    expect(await inRun("1", () => wipe("2").outcome(red))).toMatchObject({ id, status: "held" });
    const { shown } = await waiting(hf);
    expect(shown).toMatchObject({ args: red });
    expect(shown).not.toHaveProperty("drift");
  });

  test("is nothing to a tool that has none", async () => {
    world.fates.push("lose");
    await inRun("1", () => version("1").outcome(red));
    const before = world.store.asked.length;
    expect(await inRun("1", () => tag(blue))).toBe("blue");
    expect(world.store.asked.slice(before)).not.toContain("list");
  });

  test("is found behind a page of others, and one page is enough where there is no other", async () => {
    const lists = () => world.store.asked.filter((step) => step === "list").length;
    const leaveOpen = async (of: string, ...tags: string[]) => {
      const free = world.tagger(hf, { onDrift: "allow", resource: undefined, version: of });
      for (const each of tags) {
        world.fates.push("lose");
        await inRun("1", () => free.outcome({ record: "r1", tag: each }));
      }
    };
    await leaveOpen("2", "t0");
    const before = lists();
    expect(await inRun("1", () => version("2")(red))).toBe("red");
    expect(lists() - before).toBe(1);
    await leaveOpen("2", ...Array.from({ length: 129 }, (_, n) => `t${n + 1}`));
    await leaveOpen("1", "old");
    const since = lists();
    expect(await inRun("1", () => version("2").outcome(blue))).toMatchObject({ reason: "drift" });
    expect(lists() - since).toBeGreaterThan(1);
  });
});
