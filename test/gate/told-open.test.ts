/** A model that was told that an outcome is open, and words its wish anew, does not do twice what was wanted once. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import { type GuardedTool, guard } from "../../src/engine/call/guarded-tool.ts";
import { type Tool, toolOf } from "../../src/engine/define/tool.ts";
import { engineOf } from "../../src/engine/engine-of.ts";
import type { NamedCallOptions } from "../../src/engine/operation/operation.ts";
import type { VirtualClock } from "../engine/virtual-clock.ts";
import { type Heard, listen } from "../observe/heard.ts";
import { waiting } from "./bucket.ts";
import { type LaneWorld, openLanes, type Tag } from "./lane-world.ts";

const red: Tag = { record: "r1", tag: "red" };
const blue: Tag = { record: "r1", tag: "blue" };
const green: Tag = { record: "r1", tag: "green" };
/** The caller's own key, as the gateway gives it. */
const keyed = (key: string, scope?: string): NamedCallOptions => ({ key, scope });
const FREE = { onDrift: undefined, resource: undefined };

let world: LaneWorld;
let clock: VirtualClock;
let hf: Holdfire;
let heard: Heard;
let tag: GuardedTool<Tag, string>;

beforeEach(() => {
  world = openLanes();
  ({ clock } = world);
  openProcess();
});

/** From here on all is done by another process. */
function openProcess(options: object = {}): void {
  hf = world.holdfire();
  heard = listen(hf);
  tag = world.tagger(hf, { ...FREE, ...options });
}

/** As a model calls, in a turn of its thread. */
const say = (args: Tag, { turn = "1", step }: { turn?: string; step?: string | undefined } = {}) =>
  clock.run(hf.scope({ thread: "chat-7", turn }, () => tag.reply(args, { step })));

const outcomeOf = (args: Tag, turn = "1") =>
  clock.run(hf.scope({ thread: "chat-7", turn }, () => tag.outcome(args)));

/** The id of what the model was told is unknown. */
async function toldUnknown(args: Tag, step?: string): Promise<string> {
  world.fates.push("lose");
  const { outcome, operation } = await say(args, { step });
  expect(outcome).toBe("unknown");
  return operation;
}

async function approve(): Promise<void> {
  const { operation, digest } = await waiting(hf);
  await hf.approvals.approve(operation.id, { digest, by: "ana" });
}

const drift = async () => {
  const { why, shown } = await waiting(hf);
  expect(why).toBe("drift");
  return (shown as { drift?: unknown } | undefined)?.drift;
};

const settle = (id: string, as: "committed" | "not_applied") =>
  hf.operations.resolve(id, { as, by: "bo" });

describe("another wish after one that is unknown", () => {
  test.each([
    ["in the same turn", "1"],
    ["in a later turn of the thread", "2"],
  ])("is held %s, and the question shows both", async (_, turn) => {
    const first = await toldUnknown(red);
    expect(await say(blue, { turn })).toMatchObject({ outcome: "held", effect: "noop" });
    expect(await drift()).toMatchObject({ from: first, why: "unsettled", intent: red });
    expect(world.begun).toEqual(["red"]);
  });

  test("is held in another process", async () => {
    const first = await toldUnknown(red);
    openProcess();
    expect(await say(blue)).toMatchObject({ outcome: "held" });
    expect(await drift()).toMatchObject({ from: first });
  });

  test("is held behind others that have been settled since", async () => {
    const lost = [red, blue, green].map((args) => () => toldUnknown(args, "step-1"));
    const ids: string[] = [];
    for (const lose of lost) ids.push(await lose());
    const [first = "", second = "", third] = ids;
    await settle(first, "not_applied");
    await settle(second, "not_applied");
    expect(await say({ record: "r1", tag: "grey" })).toMatchObject({ outcome: "held" });
    expect(await drift()).toMatchObject({ from: third });
  });

  test("is held while another process sends the first, also with a yes", async () => {
    world.takesMs = 20_000;
    const turn = { thread: "chat-7", turn: "1" };
    const other = world.holdfire();
    const theirs = world.tagger(other, { ...FREE, attemptTimeoutMs: 30_000 });
    const sending = other.scope(turn, () => theirs.outcome(red));
    await clock.advance(10);
    const told = await clock.run(hf.scope(turn, () => tag.reply(red, { deadlineMs: 1_000 })));
    expect(told).toMatchObject({ outcome: "in_progress" });
    expect(await say(blue)).toMatchObject({ outcome: "held" });
    expect(await drift()).toMatchObject({ from: told.operation, why: "unsettled" });
    await approve();
    // A yes gives up what no process works on; code that makes the call is held as the model is.
    expect(await say(blue)).toMatchObject({ outcome: "held" });
    expect(await outcomeOf(blue)).toMatchObject({ status: "held", reason: "drift" });
    expect(await hf.operations.get(told.operation)).toMatchObject({ status: "claimed" });
    expect(world.begun).toEqual(["red"]);
    expect(await clock.run(sending)).toMatchObject({ status: "committed" });
  });

  test("is held also for plain code that makes the same call, until a person answers", async () => {
    const first = await toldUnknown(red);
    await say(blue);
    openProcess();
    expect(await outcomeOf(blue)).toMatchObject({ status: "held", reason: "drift" });
    expect(world.begun).toEqual(["red"]);
    await approve();
    expect(await outcomeOf(blue)).toMatchObject({ status: "committed" });
    expect(world.begun).toEqual(["red", "blue"]);
    // What it was let pass in place of is given up, whoever makes the call.
    expect(await hf.operations.get(first)).toMatchObject({ reason: "abandoned" });
  });

  test("is asked about again if the first is done between the yes and its use", async () => {
    let meanwhile = async () => {};
    openProcess({
      plan: async () => {
        await meanwhile();
        return { changes: [] };
      },
    });
    const first = await toldUnknown(red);
    await say(blue);
    await approve();
    meanwhile = async () => {
      meanwhile = async () => {};
      await settle(first, "committed");
    };
    expect(await say(blue)).toMatchObject({ outcome: "held" });
    expect(await drift()).toMatchObject({ from: first, why: "committed_since" });
    expect(world.begun).toEqual(["red"]);
    await approve();
    expect(await say(blue)).toMatchObject({ outcome: "committed" });
    expect(world.begun).toEqual(["red", "blue"]);
  });

  test("that a person refuses meanwhile gives nothing up", async () => {
    const IN = { scope: "job" };
    world.fates.push("lose");
    const first = await clock.run(tag.reply(red, IN));
    const other = world.holdfire();
    let isDue = true;
    const plan = async () => {
      if (isDue) {
        isDue = false;
        await world.tagger(other, { ...FREE, plan }).reply(blue, IN);
        const { operation, digest } = await waiting(other);
        await other.approvals.deny(operation.id, { digest, by: "ana" });
      }
      return { changes: [] };
    };
    openProcess({ plan });
    expect(await clock.run(tag.reply(blue, IN))).toMatchObject({ outcome: "denied" });
    expect(await hf.operations.get(first.operation)).not.toMatchObject({ reason: "abandoned" });
    expect(world.begun).toEqual(["red"]);
  });

  test("goes with a person's yes, once, and the first is given up", async () => {
    const first = await toldUnknown(red);
    await say(blue);
    await approve();
    expect(await hf.operations.get(first)).not.toMatchObject({ reason: "abandoned" });
    expect(await say(blue)).toMatchObject({ outcome: "committed", replayed: false });
    expect(await say(blue)).toMatchObject({ outcome: "committed", replayed: true });
    expect(await outcomeOf(red)).toMatchObject({ status: "unknown", reason: "abandoned" });
    // It no longer stands in the way of others.
    expect(await say(green)).toMatchObject({ outcome: "committed" });
    expect(world.begun).toEqual(["red", "blue", "green"]);
  });

  test("is denied where its tool refuses drift, and nobody is asked", async () => {
    openProcess({ onDrift: "refuse" });
    await toldUnknown(red);
    expect(await say(blue)).toMatchObject({ outcome: "denied" });
    expect((await hf.approvals.list()).items).toEqual([]);
    expect(world.begun).toEqual(["red"]);
  });

  test("is not for a tool that allows drift", async () => {
    openProcess({ onDrift: "allow" });
    await toldUnknown(red);
    expect(await say(blue)).toMatchObject({ outcome: "committed" });
  });
});

describe("a yes in the place of one is none in the place of another", () => {
  test("each that is open has its own question, and its own yes", async () => {
    const first = await toldUnknown(red, "step-1");
    const second = await toldUnknown(blue, "step-1");
    await say(green);
    expect(await drift()).toMatchObject({ from: first });
    await approve();
    expect(await say(green)).toMatchObject({ outcome: "held" });
    expect(await drift()).toMatchObject({ from: second });
    // Nothing is given up before all of it may be.
    expect(await hf.operations.get(first)).not.toMatchObject({ reason: "abandoned" });
    await approve();
    expect(await say(green)).toMatchObject({ outcome: "committed" });
    for (const id of [first, second]) {
      expect(await hf.operations.get(id)).toMatchObject({ status: "unknown", reason: "abandoned" });
    }
    expect(world.begun).toEqual(["red", "blue", "green"]);
  });

  test("the first came to nothing: the yes in its place does not give up the second", async () => {
    const first = await toldUnknown(red, "step-1");
    const second = await toldUnknown(blue, "step-1");
    await say(green);
    await approve();
    await settle(first, "not_applied");
    expect(await say(green)).toMatchObject({ outcome: "held" });
    expect(await drift()).toMatchObject({ from: second });
    expect(world.begun).toEqual(["red", "blue"]);
  });

  test("the first was done: the yes was given when that was not known", async () => {
    const first = await toldUnknown(red);
    await say(blue);
    await approve();
    await settle(first, "committed");
    expect(await say(blue)).toMatchObject({ outcome: "held" });
    const shown = await drift();
    expect(shown).toMatchObject({ from: first, why: "committed_since" });
    expect(shown).not.toHaveProperty("intent");
    await approve();
    expect(await say(blue)).toMatchObject({ outcome: "committed" });
    // The person has seen it: the next one is not asked about for the same reason.
    expect(await say(green)).toMatchObject({ outcome: "committed" });
    expect(world.begun).toEqual(["red", "blue", "green"]);
  });

  test("the only one came to nothing: the yes lets it pass, and there is nothing to give up", async () => {
    const first = await toldUnknown(red);
    await say(blue);
    await approve();
    await settle(first, "not_applied");
    expect(await say(blue)).toMatchObject({ outcome: "committed" });
    expect(world.begun).toEqual(["red", "blue"]);
  });
});

describe("another wish goes", () => {
  test("once the model was told that the first was done", async () => {
    const first = await toldUnknown(red);
    await settle(first, "committed");
    expect(await say(red)).toMatchObject({ outcome: "committed", replayed: true });
    expect(await say(blue)).toMatchObject({ outcome: "committed" });
  });

  test("not before", async () => {
    const first = await toldUnknown(red);
    await settle(first, "committed");
    expect(await say(blue)).toMatchObject({ outcome: "held" });
    expect(await drift()).toMatchObject({ from: first, why: "committed_since" });
  });

  test("where the first came to nothing", async () => {
    await settle(await toldUnknown(red), "not_applied");
    expect(await say(blue)).toMatchObject({ outcome: "committed" });
  });

  test("by the same step of the model, with one warning", async () => {
    const first = await toldUnknown(red, "step-1");
    expect(await say(blue, { step: "step-1" })).toMatchObject({ outcome: "committed" });
    expect(await say(green, { step: "step-1" })).toMatchObject({ outcome: "committed" });
    expect(heard("warning", "sibling_unknown")).toMatchObject([{ other: first, tool: "tag" }]);
  });

  test("by the same step of the model in another process, which has told nothing", async () => {
    await toldUnknown(red, "step-1");
    openProcess();
    expect(await say(blue, { step: "step-1" })).toMatchObject({ outcome: "committed" });
    expect(heard("warning", "sibling_unknown")).toEqual([]);
  });

  test("in another thread, by another tool, of another tenant, and to another resource", async () => {
    openProcess({ resource: ({ record }: Tag) => record });
    await toldUnknown(red);
    expect(await say({ record: "r2", tag: "a" })).toMatchObject({ outcome: "committed" });
    const turn = { thread: "chat-7", turn: "1" };
    const other = world.tagger(hf, { ...FREE, name: "other" });
    expect(await clock.run(hf.scope(turn, () => other.reply(blue)))).toMatchObject({
      outcome: "committed",
    });
    const tenant = hf.forTenant("other");
    const theirs = world.tagger(tenant, FREE);
    expect(await clock.run(tenant.scope(turn, () => theirs.reply(blue)))).toMatchObject({
      outcome: "committed",
    });
    openProcess();
    await toldUnknown(green);
    const elsewhere = hf.scope({ thread: "chat-8", turn: "1" }, () => tag.reply(blue));
    expect(await clock.run(elsewhere)).toMatchObject({ outcome: "committed" });
  });
});

describe("plain code that goes on with the next item", () => {
  const next = (args: Tag) => clock.run(tag.outcome(args, { scope: "job" }));

  test("is not held, and is warned once of what is open", async () => {
    world.fates.push("lose");
    const { id } = await next(red);
    expect(await next(blue)).toMatchObject({ status: "committed" });
    expect(await next(green)).toMatchObject({ status: "committed" });
    expect(heard("warning", "sibling_unknown")).toMatchObject([{ other: id }]);
  });

  test("is warned of each of several", async () => {
    world.fates.push("lose", "lose");
    const lost = [await next(red), await next(blue)].map(({ id }) => id);
    await next(green);
    expect(heard("warning", "sibling_unknown").map(({ other }) => other)).toEqual(lost);
  });

  test("is not warned of itself, of another scope or tool, or without a scope", async () => {
    world.fates.push("lose");
    await next(red);
    await next(red);
    await clock.run(tag.outcome(blue, { scope: "another" }));
    await clock.run(world.tagger(hf, { ...FREE, name: "other" }).outcome(blue, { scope: "job" }));
    world.fates.push("lose");
    await clock.run(tag.outcome(red, keyed("order-1")));
    await clock.run(tag.outcome(blue, keyed("order-2")));
    expect(heard("warning", "sibling_unknown")).toEqual([]);
    expect(world.begun).toEqual(["red", "blue", "blue", "red", "blue"]);
  });

  test("asks the store nothing for it", async () => {
    world.fates.push("lose");
    await next(red);
    expect(world.store.asked.filter((step) => step.startsWith("own"))).toEqual([]);
  });

  test("is warned in a thousand scopes at most: the one that was told of least lately goes first", async () => {
    const job = (n: number, args: Tag) => clock.run(tag.outcome(args, { scope: `job-${n}` }));
    const lose = (n: number, args: Tag) => {
      world.fates.push("lose");
      return job(n, args);
    };
    for (let n = 0; n < 1_000; n += 1) await lose(n, red);
    const { id } = await lose(0, green);
    const warned = () => heard("warning", "sibling_unknown").map(({ other }) => other);
    const before = warned().length;
    await lose(1_000, red);
    await job(1, blue);
    expect(warned()).toHaveLength(before);
    await job(0, blue);
    expect(warned().at(-1)).toBe(id);
    await job(2, blue);
    expect(warned()).toHaveLength(before + 2);
  }, 60_000);
});

describe("a store that does not note what was told", () => {
  test.each(["rejects", "hangs"] as const)(
    "and %s does not keep the caller from being told",
    async (trouble) => {
      world.store.fail(trouble, (step) => step.startsWith("own") && world.written.length > 0);
      world.fates.push("lose");
      const told = await clock.run(tag.reply(red, { scope: "job" }));
      expect(told).toMatchObject({ outcome: "unknown" });
      const error = trouble === "rejects" ? new Error("The store is down.") : undefined;
      expect(heard("store", "error")).toMatchObject([{ step: "told", error }]);
    },
  );

  test("has noted it once, however often it was told", async () => {
    const IN = { scope: "job" };
    const owned = () => world.store.asked.filter((step) => step === "own").length;
    world.fates.push("lose");
    await clock.run(tag.reply(red, IN));
    const before = owned();
    expect(before).toBeGreaterThan(0);
    expect(await clock.run(tag.reply(red, IN))).toMatchObject({ outcome: "unknown" });
    expect(owned()).toBe(before);
  });

  test("is told of as nothing else when it does", async () => {
    await toldUnknown(red);
    expect(heard("store", "error")).toEqual([]);
  });
});

describe("those that the caller itself compares a call with", () => {
  /** As the gateway calls, which knows what its host was told. */
  const calling = (args: Tag, key: string, mayReword: readonly string[]) => {
    const tool: Tool = { ...(toolOf(tag) ?? expect.fail("It is no tool.")), mayReword };
    const call = guard<Tag, string>(tool, engineOf(hf));
    return clock.run(call.outcome(args, keyed(key, "chat-7")));
  };

  async function leaveUnknown(args: Tag, key: string): Promise<string> {
    world.fates.push("lose");
    const { id, status } = await calling(args, key, []);
    expect(status).toBe("unknown");
    return id;
  }

  test("hold it while one of them is open", async () => {
    const done = await calling(green, "k0", []);
    const first = await leaveUnknown(red, "k1");
    const held = await calling(blue, "k2", ["none", done.id, first]);
    expect(held).toMatchObject({ status: "held", reason: "drift" });
    expect(await drift()).toMatchObject({ from: first, why: "unsettled" });
    await approve();
    expect(await calling(blue, "k2", ["none", done.id, first])).toMatchObject({
      status: "committed",
    });
    expect(await hf.operations.get(first)).toMatchObject({ reason: "abandoned" });
    expect(world.begun).toEqual(["green", "red", "blue"]);
  });

  test("do not hold it once they are settled, or given up", async () => {
    const first = await leaveUnknown(red, "k1");
    await settle(first, "not_applied");
    expect(await calling(blue, "k2", [first])).toMatchObject({ status: "committed" });
  });

  test("are never itself: what is open is read", async () => {
    const first = await leaveUnknown(red, "k1");
    expect(await calling(red, "k1", [first])).toMatchObject({ status: "unknown", id: first });
    expect((await hf.approvals.list()).items).toEqual([]);
  });

  test("are only those of its tenant", async () => {
    const first = await leaveUnknown(red, "k1");
    const theirs = world.tagger(hf.forTenant("other"), FREE);
    const tool: Tool = { ...(toolOf(theirs) ?? expect.fail("No tool.")), mayReword: [first] };
    const call = guard<Tag, string>(tool, engineOf(hf.forTenant("other")));
    expect(await clock.run(call.outcome(blue, keyed("k2", "chat-7")))).toMatchObject({
      status: "committed",
    });
  });
});
