import { describe, expect, test } from "vitest";
import { cannotTell } from "../../src/engine/define/reading.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { waiting } from "../gate/bucket.ts";
import { keysOf, type Order, type OrderOptions, openWorld, TEA } from "./world.ts";

const COFFEE: Order = { item: "coffee" };
const THREAD = "chat-7";

/** A model that was told in its first turn that the outcome is unknown. */
async function toldUnknown(options: OrderOptions = {}, toolClass: "neither" | "keyed" = "neither") {
  const world = await openWorld();
  const { service, hf, order, pass } = world;
  service.plan(faults.commitThenReset());
  const tool = order(toolClass, options);
  const inTurn = <T>(turn: string, fn: () => Promise<T>): Promise<T> =>
    pass(hf.scope({ thread: THREAD, turn }, fn));
  const first = await inTurn("1", () => tool.reply(TEA, { step: "response-1" }));
  expect(first.outcome).toBe("unknown");
  const approve = async () => {
    const { operation, digest } = await waiting(hf);
    await pass(hf.approvals.approve(operation.id, { digest, by: "ana" }));
  };
  const show = async (id: string) => pass(hf.operations.get(id));
  return { ...world, tool, inTurn, first: first.operation, approve, show };
}

const WORDS = [
  ["in the same turn", "1"],
  ["in a later turn of the thread", "2"],
] as const;

describe.each(WORDS)("a reworded call by a model that was told unknown, %s", (_, turn) => {
  test("is held, and the question shows both", async () => {
    const { inTurn, tool, hf, service, first } = await toldUnknown();
    const held = await inTurn(turn, () => tool.reply(COFFEE));
    expect(held).toMatchObject({ outcome: "held", effect: "noop" });
    expect(service.arrivals).toHaveLength(1);
    const question = await waiting(hf);
    expect(question.why).toBe("drift");
    expect(question.shown).toMatchObject({
      args: COFFEE,
      drift: { from: first, why: "unsettled", intent: { item: "tea" } },
    });
  });

  test("let pass, the first is abandoned, and never sent again", async () => {
    const { inTurn, tool, hf, pass, service, first, approve, show, order } = await toldUnknown(
      { attempts: 1 },
      "keyed",
    );
    await inTurn(turn, () => tool.reply(COFFEE));
    await approve();
    expect(await show(first)).toMatchObject({ reason: "attempts" });
    const done = await inTurn(turn, () => tool.reply(COFFEE));
    expect(done).toMatchObject({ outcome: "committed", replayed: false });
    expect(await show(first)).toMatchObject({ status: "unknown", reason: "abandoned" });
    expect(service.arrivals).toHaveLength(2);
    // Not by a call, not by another turn, not by reconcile.
    const keyed = order("keyed");
    for (const name of ["1", "2", "3"]) {
      const told = await inTurn(name, () => keyed.outcome(TEA));
      expect(told).toMatchObject({ status: "unknown", reason: "abandoned", id: first });
    }
    await pass(hf.reconcile({ resend: true }));
    expect(await show(first)).toMatchObject({ status: "unknown", reason: "abandoned" });
    expect(service.arrivals).toHaveLength(2);
    // It no longer stands in the way of others, either.
    expect(await inTurn("4", () => tool.reply({ item: "cake" }))).toMatchObject({
      outcome: "committed",
    });
  });

  test("a released hold fires once for its intent, whichever turn asks for it", async () => {
    const { inTurn, tool, service, approve } = await toldUnknown();
    await inTurn(turn, () => tool.reply(COFFEE));
    await inTurn("5", () => tool.reply(COFFEE));
    await approve();
    const told = await Promise.all([
      inTurn("6", () => tool.outcome(COFFEE)),
      inTurn("5", () => tool.outcome(COFFEE)),
      inTurn(turn, () => tool.outcome(COFFEE)),
    ]);
    expect(new Set(told.map(({ key }) => key)).size).toBe(1);
    expect(keysOf(service).filter((key) => key === told[0]?.key)).toHaveLength(1);
    expect(service.arrivals).toHaveLength(2);
  });
});

describe("what became of the first meanwhile", () => {
  test("it was done: the model does not know, so the person is shown that", async () => {
    const { inTurn, tool, hf, pass, first, approve, service } = await toldUnknown();
    await inTurn("2", () => tool.reply(COFFEE));
    await approve();
    await pass(hf.operations.resolve(first, { as: "committed", by: "bo" }));
    // The yes was given when it was not known.
    expect(await inTurn("2", () => tool.reply(COFFEE))).toMatchObject({ outcome: "held" });
    expect((await waiting(hf)).shown).toMatchObject({ drift: { why: "committed_since" } });
    expect(service.arrivals).toHaveLength(1);
    await approve();
    expect(await inTurn("2", () => tool.reply(COFFEE))).toMatchObject({ outcome: "committed" });
    // The person has seen it: the next one is not asked about for the same reason.
    expect(await inTurn("2", () => tool.reply({ item: "cake" }))).toMatchObject({
      outcome: "committed",
    });
    // But to try the first again is still to be answered with it.
    const again = await inTurn("3", () => tool.reply(TEA));
    expect(again).toMatchObject({ outcome: "committed", replayed: true, operation: first });
    expect(service.arrivals).toHaveLength(3);
  });

  test.each([
    ["the model learned so by asking", true],
    ["the call is then made by code", false],
  ])("it was done after the yes, and %s: the person is shown that", async (_, isAsked) => {
    const { inTurn, tool, hf, pass, first, approve, service } = await toldUnknown();
    await inTurn("2", () => tool.reply(COFFEE));
    await approve();
    await pass(hf.operations.resolve(first, { as: "committed", by: "bo" }));
    if (isAsked) await inTurn("2", () => hf.statusTool().reply({ operation: first }));
    const make = () =>
      inTurn("2", async () =>
        isAsked ? (await tool.reply(COFFEE)).outcome : (await tool.outcome(COFFEE)).status,
      );
    // The yes was to one in place of the other, not to both.
    expect(await make()).toBe("held");
    expect((await waiting(hf)).shown).toMatchObject({ drift: { why: "committed_since" } });
    expect(await make()).toBe("held");
    expect(service.arrivals).toHaveLength(1);
    await approve();
    expect([await make(), await make()]).toEqual(["committed", "committed"]);
    expect(service.arrivals).toHaveLength(2);
  });

  test("it was done, and the model learned so by asking: another wish is another wish", async () => {
    const { inTurn, tool, hf, pass, first, service } = await toldUnknown();
    await pass(hf.operations.resolve(first, { as: "committed", by: "bo" }));
    const status = hf.statusTool();
    const asked = await inTurn("2", () => status.reply({ operation: first }));
    expect(asked).toMatchObject({ outcome: "committed" });
    expect(await inTurn("2", () => tool.reply(COFFEE))).toMatchObject({ outcome: "committed" });
    expect(await inTurn("2", () => tool.reply(TEA))).toMatchObject({ outcome: "committed" });
    expect(service.effects).toHaveLength(3);
  });

  test("it was done, and the model was told so: another wish is another wish", async () => {
    const { inTurn, tool, hf, pass, first, service } = await toldUnknown();
    await pass(hf.operations.resolve(first, { as: "committed", by: "bo" }));
    expect(await inTurn("2", () => tool.reply(TEA))).toMatchObject({ outcome: "committed" });
    expect(await inTurn("2", () => tool.reply(COFFEE))).toMatchObject({ outcome: "committed" });
    expect(service.arrivals).toHaveLength(2);
  });

  test("it did not happen: the other goes", async () => {
    const { inTurn, tool, hf, pass, first } = await toldUnknown();
    await pass(hf.operations.resolve(first, { as: "not_applied", by: "bo" }));
    expect(await inTurn("2", () => tool.reply(COFFEE))).toMatchObject({ outcome: "committed" });
  });

  test("it was abandoned, and its late reply is filed all the same", async () => {
    const world = await openWorld();
    const { service, hf, order, pass } = world;
    let answer: (value: never) => void = () => {};
    const late = new Promise<never>((resolve) => {
      answer = resolve;
    });
    const tool = order("neither", { attemptTimeoutMs: 1_000, deadlineMs: 3_000 });
    const slow = order("neither", {
      attemptTimeoutMs: 1_000,
      deadlineMs: 3_000,
      run: () => late,
    });
    const scope = "job-1";
    const first = await pass(slow.reply(TEA, { scope }));
    await pass(tool.reply(COFFEE, { scope }));
    const { operation, digest } = await waiting(hf);
    await pass(hf.approvals.approve(operation.id, { digest, by: "ana" }));
    expect(await pass(tool.reply(COFFEE, { scope }))).toMatchObject({ outcome: "committed" });
    answer({ id: "late" } as never);
    await pass(new Promise((resolve) => setImmediate(resolve)));
    await pass(hf.reconcile());
    expect(await pass(hf.operations.get(first.operation))).toMatchObject({ status: "committed" });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("what is not held", () => {
  test("a call of the same model step, with a warning", async () => {
    const { inTurn, tool, heard, first } = await toldUnknown();
    const next = await inTurn("1", () => tool.reply(COFFEE, { step: "response-1" }));
    expect(next).toMatchObject({ outcome: "committed" });
    expect(heard("warning", "sibling_unknown")).toMatchObject([{ other: first }]);
    expect(
      await inTurn("1", () => tool.reply({ item: "cake" }, { step: "response-2" })),
    ).toMatchObject({ outcome: "held" });
  });

  test("a job of plain code that mails 500 people is not stopped by the 17th", async () => {
    const { service, hf, order, pass, heard } = await openWorld();
    const mail = order("neither");
    const job = async () => {
      const told: string[] = [];
      for (let n = 1; n <= 500; n += 1) {
        if (n === 17) service.plan(faults.commitThenReset());
        told.push((await mail.outcome({ item: `letter ${n}` })).status);
      }
      return told;
    };
    const told = await pass(hf.scope("newsletter/november", job));
    expect(told.filter((status) => status !== "committed")).toEqual(["unknown"]);
    expect(told[16]).toBe("unknown");
    expect(service.effects).toHaveLength(500);
    expect(heard("warning", "sibling_unknown")).toHaveLength(1);
  });

  test("another tool, another thread, another resource", async () => {
    const { inTurn, tool, order, hf, pass } = await toldUnknown({
      resource: ({ item }) => `cup/${item}`,
    });
    expect(await inTurn("2", () => tool.reply(COFFEE))).toMatchObject({ outcome: "committed" });
    const other = order("neither", { name: "other" });
    expect(await inTurn("2", () => other.reply(COFFEE))).toMatchObject({ outcome: "committed" });
    const elsewhere = hf.scope({ thread: "chat-8", turn: "1" }, () => tool.reply(TEA));
    // The lane is the resource's, whoever writes to it.
    expect(await pass(elsewhere)).toMatchObject({ outcome: "held" });
  });

  test("what onDrift allows; and what it refuses is denied without a question", async () => {
    const allowed = await toldUnknown({ onDrift: "allow" });
    expect(await allowed.inTurn("2", () => allowed.tool.reply(COFFEE))).toMatchObject({
      outcome: "committed",
    });
    const refused = await toldUnknown({ onDrift: "refuse" });
    expect(await refused.inTurn("2", () => refused.tool.reply(COFFEE))).toMatchObject({
      outcome: "denied",
    });
    expect((await refused.hf.approvals.list()).items).toEqual([]);
  });

  test("the same resource: let pass, the lane of the abandoned one is free", async () => {
    const { inTurn, tool, approve, service } = await toldUnknown({ resource: () => "kettle" });
    expect(await inTurn("1", () => tool.reply(COFFEE))).toMatchObject({ outcome: "held" });
    await approve();
    expect(await inTurn("1", () => tool.reply(COFFEE))).toMatchObject({ outcome: "committed" });
    expect(service.arrivals).toHaveLength(2);
  });
});

test("a reader may still find what was abandoned", async () => {
  const { service, hf, order, pass } = await openWorld();
  service.plan(faults.commitThenReset());
  const blind = order("readable", { readState: async () => cannotTell("down") });
  const scope = "chat-7/turn-1";
  const first = await pass(blind.reply(TEA, { scope }));
  await pass(blind.reply(COFFEE, { scope }));
  const { operation, digest } = await waiting(hf);
  await pass(hf.approvals.approve(operation.id, { digest, by: "ana" }));
  expect(await pass(blind.reply(COFFEE, { scope }))).toMatchObject({ outcome: "committed" });
  order("readable");
  await pass(hf.reconcile({ resend: true }));
  expect(await pass(hf.operations.get(first.operation))).toMatchObject({ status: "committed" });
  expect(service.arrivals).toHaveLength(2);
});
