import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Plan } from "../../src/engine/define/definition.ts";
import type { NamedCallOptions } from "../../src/engine/operation/operation.ts";
import { checkPlan } from "../../src/gate/plan.ts";
import { listen } from "../scenarios/world.ts";
import { type BucketWorld, LOGS, ONCE, openBucket, waiting } from "./bucket.ts";

let world: BucketWorld;

beforeEach(() => {
  world = openBucket();
});

describe("tool.plan", () => {
  test("tells what would change, sends nothing and writes nothing down", async () => {
    const { clock, holdfire, drop, runs } = world;
    const hf = holdfire();
    const planned = await clock.run(drop(hf).plan(LOGS, ONCE));
    expect(planned).toMatchObject({
      tool: "drop_bucket",
      effect: "would_delete",
      changes: [{ type: "delete", target: "bucket/logs" }],
      diff: "delete bucket/logs",
      alsoDoes: ["e-mails the owner"],
      args: LOGS,
      needsApproval: true,
    });
    const { id, key } = await clock.run(drop(hf).outcome(LOGS, { ...ONCE, scope: "s" }));
    expect(planned).toMatchObject({ id, key });
    expect(runs).toEqual([]);
  });

  test("leaves no trace in the ledger", async () => {
    const { clock, holdfire, drop } = world;
    const hf = holdfire();
    await clock.run(drop(hf).plan(LOGS, ONCE));
    expect((await hf.operations.list()).items).toEqual([]);
  });

  test("needs no scope, and is then no operation yet", async () => {
    const { clock, holdfire, drop } = world;
    const planned = await clock.run(drop(holdfire()).plan(LOGS));
    expect(planned).toMatchObject({ effect: "would_delete", id: undefined, key: undefined });
  });

  test.each<[string, Plan["changes"]]>([
    ["would_create", [{ type: "create", target: "a" }]],
    ["would_update", [{ type: "update", target: "a" }]],
    [
      "would_delete",
      [
        { type: "delete", target: "a" },
        { type: "delete", target: "b" },
      ],
    ],
    [
      "would_change",
      [
        { type: "create", target: "a" },
        { type: "delete", target: "b" },
      ],
    ],
    ["would_do_nothing", []],
  ])("says %s", async (effect, changes) => {
    const { clock, holdfire, drop } = world;
    const tool = drop(holdfire(), { plan: () => ({ changes }) });
    expect(await clock.run(tool.plan(LOGS, ONCE))).toMatchObject({ effect });
  });

  test("of a tool without one says so, with what would be sent", async () => {
    const { clock, holdfire, drop } = world;
    const tool = drop(holdfire(), { name: "write", kind: "write", plan: undefined });
    const planned = await clock.run(tool.plan(LOGS, ONCE));
    expect(planned).toMatchObject({ effect: "would_send", args: LOGS, needsApproval: false });
    expect(planned.message).toContain("no plan");
  });

  test("of a read changes nothing", async () => {
    const { clock, holdfire, runs } = world;
    const hf = holdfire();
    const list = hf.tool({ name: "list", kind: "read", run: async () => runs.push("read") });
    expect(await clock.run(list.plan({}))).toMatchObject({ effect: "would_do_nothing" });
    expect(runs).toEqual([]);
  });

  test("of what is settled says that it would be replayed, and asks for no plan", async () => {
    const { clock, holdfire, drop } = world;
    const hf = holdfire();
    const plan = vi.fn(() => world.plan);
    const tool = drop(hf, { plan });
    await clock.run(tool.outcome(LOGS, ONCE));
    expect(await clock.run(tool.plan(LOGS, ONCE))).toMatchObject({
      effect: "would_delete",
      known: "held",
    });
    const { operation, digest } = await waiting(hf);
    await hf.approvals.approve(operation.id, { digest, by: "ana" });
    await clock.run(tool.outcome(LOGS, ONCE));
    plan.mockClear();
    expect(await clock.run(tool.plan(LOGS, ONCE))).toMatchObject({
      effect: "would_replay",
      known: "committed",
      needsApproval: false,
    });
    expect(plan).not.toHaveBeenCalled();
  });

  test("of what is unknown says that it would look first", async () => {
    const { clock, holdfire } = world;
    const hf = holdfire();
    const lossy = hf.tool({
      ...{ name: "lossy", kind: "write", keyed: { forMs: 1_000 }, attempts: 1 },
      run: (_: object, { key }) => Promise.reject(new Error(key)),
    });
    await clock.run(lossy.outcome({}, ONCE));
    expect(await clock.run(lossy.plan({}, ONCE))).toMatchObject({ effect: "would_look" });
  });

  test("that hangs or throws ends in an error", async () => {
    const { clock, holdfire, drop } = world;
    const hf = holdfire();
    const hung = drop(hf, { plan: () => new Promise(() => {}) }).plan(LOGS, ONCE);
    await expect(clock.run(hung)).rejects.toThrow("did not answer in time");
    const broken = drop(hf, { plan: () => Promise.reject(new Error("down")) }).plan(LOGS, ONCE);
    await expect(clock.run(broken)).rejects.toThrow("down");
  });

  test("may take its time, within the deadline of the call", async () => {
    const { clock, holdfire, drop } = world;
    const plan = () =>
      new Promise<Plan>((resolve) => {
        clock.after(2_000, () => resolve(world.plan));
      });
    const tool = drop(holdfire(), { plan });
    expect(await clock.run(tool.plan(LOGS, ONCE))).toMatchObject({ effect: "would_delete" });
    const late = tool.plan(LOGS, { ...ONCE, deadlineMs: 1_000 });
    await expect(clock.run(late)).rejects.toThrow('plan of "drop_bucket": did not answer in time.');
  });

  test("says in words what it would do, and whether a person must say yes first", async () => {
    const { clock, holdfire, drop } = world;
    const hf = holdfire();
    const words = async (options: object) =>
      (await clock.run(drop(hf, options).plan(LOGS, ONCE))).message;
    const what = "It would delete what the plan lists. Nothing was sent.";
    expect(await words({})).toBe(`${what} A person must say yes first.`);
    expect(await words({ name: "write", kind: "write" })).toBe(what);
  });

  test("of a call with the caller's own key needs no scope to be an operation", async () => {
    const { clock, holdfire, drop } = world;
    const tool = drop(holdfire());
    const own: NamedCallOptions = { key: "order-1" };
    const { id } = await clock.run(tool.plan(LOGS, own));
    expect(id).toBe((await clock.run(tool.outcome(LOGS, own))).id);
  });

  test("of a read is no operation, also in a scope", async () => {
    const { clock, holdfire } = world;
    const list = holdfire().tool({ name: "list", kind: "read", run: async () => "all" });
    const planned = await clock.run(list.plan({}, ONCE));
    expect(planned).toMatchObject({ id: undefined, key: undefined, known: undefined });
  });

  test("of what is being done says that it would look first", async () => {
    const { clock, holdfire } = world;
    const hf = holdfire();
    const slow = hf.tool({
      ...{ name: "slow", kind: "write", keyed: { forMs: 86_400_000 } },
      run: (_: object, { key }) =>
        new Promise<string>((resolve) => {
          clock.after(5_000, () => resolve(key));
        }),
    });
    const first = slow({}, ONCE);
    await clock.advance(10);
    expect(await clock.run(slow.plan({}, ONCE))).toMatchObject({
      effect: "would_look",
      known: "claimed",
    });
    await clock.run(first);
  });

  test("of what came to nothing says again what it would do", async () => {
    const { clock, holdfire } = world;
    const hf = holdfire();
    const refused = hf.tool({
      ...{ name: "write", kind: "write", attempts: 1, keyed: { forMs: 86_400_000 } },
      classify: () => "refused",
      plan: () => world.plan,
      run: (_: object, { key }) => Promise.reject(new Error(key)),
    });
    await clock.run(refused.outcome({}, ONCE));
    await clock.advance(60_000);
    expect(await clock.run(refused.plan({}, ONCE))).toMatchObject({
      effect: "would_delete",
      known: "not_applied",
    });
  });

  test("is not made for a caller that has left", async () => {
    const { holdfire, drop } = world;
    const asked: unknown[] = [];
    const tool = drop(holdfire(), {
      plan: () => {
        asked.push("plan");
        return world.plan;
      },
    });
    const signal = AbortSignal.abort(new Error("the user left"));
    await expect(tool.plan(LOGS, { ...ONCE, signal })).rejects.toThrow("the user left");
    expect(asked).toEqual([]);
  });

  test("after close is refused", async () => {
    const { clock, holdfire, drop } = world;
    const hf = holdfire();
    const tool = drop(hf);
    await clock.run(hf.close());
    await expect(tool.plan(LOGS)).rejects.toMatchObject({ code: "ERR_HOLDFIRE_CLOSED" });
  });
});

describe("a plan is checked before anybody sees it", () => {
  test.each([
    ["nothing", undefined],
    ["a list", []],
    ["no changes", {}],
    ["more than changes", { changes: [], note: "trust me" }],
    ["a change that is none", { changes: ["all"] }],
    ["an unknown type", { changes: [{ type: "drop", target: "a" }] }],
    ["changes that are no list", { changes: {} }],
    ["a change of nothing", { changes: [null] }],
    ["a target that is no text", { changes: [{ type: "delete", target: 7 }] }],
    ["a target of nothing", { changes: [{ type: "delete", target: "" }] }],
    ["no target", { changes: [{ type: "delete" }] }],
    ["an endless target", { changes: [{ type: "delete", target: "x".repeat(513) }] }],
    ["a field nobody would see", { changes: [{ type: "delete", target: "a", also: "b" }] }],
    ["what JSON cannot carry", { changes: [{ type: "create", target: "a", after: () => 1 }] }],
    ["too many", { changes: Array(1_001).fill({ type: "delete", target: "a" }) }],
    ["too much", { changes: [{ type: "create", target: "a", after: "x".repeat(2_000_000) }] }],
  ])("%s is refused", (_, plan) => {
    expect(() => checkPlan(plan, "drop")).toThrow(/plan of "drop"/);
  });

  test("a thousand changes, with targets of 512 characters, before and after, are taken", () => {
    const change = { type: "update", target: "x".repeat(512), before: 1, after: { n: 2 } };
    const given = { changes: Array(1_000).fill(change) };
    expect(checkPlan(given, "drop")).toEqual(given);
  });

  test("what is wrong is told with its place", () => {
    const good = { type: "delete", target: "a" };
    const told = (bad: unknown) => () => checkPlan({ changes: [good, bad] }, "drop");
    expect(told("all")).toThrow('plan of "drop".changes[1]: must be an object.');
    expect(told({ ...good, type: "drop" })).toThrow('.changes[1].type: must be "create"');
    expect(told({ ...good, target: "" })).toThrow(".changes[1].target: must be text of 1 to 512");
    expect(told({ ...good, also: 1 })).toThrow(".changes[1]: has a field that a change does not");
    expect(() => checkPlan({ changes: Array(1_001).fill(good) }, "drop")).toThrow("1000 changes");
    expect(() => checkPlan({ changes: [], more: 1 }, "drop")).toThrow("and nothing else");
  });

  test("its copy is frozen: a tool that changes it later changes nothing", () => {
    const given = { changes: [{ type: "delete" as const, target: "a" }] };
    const checked = checkPlan(given, "drop");
    Object.assign(given.changes[0] ?? {}, { target: "all" });
    expect(checked.changes[0]?.target).toBe("a");
    expect(Object.isFrozen(checked.changes[0])).toBe(true);
  });
});

describe("a plan that fails before the question", () => {
  test.each([
    ["throws", () => Promise.reject(new Error("down"))],
    ["hangs", () => new Promise<Plan>(() => {})],
    ["is nonsense", () => ({ changes: [{ type: "drop" }] }) as unknown as Plan],
  ])("one that %s sends nothing, asks nobody and leaves nothing behind", async (_, plan) => {
    const { clock, holdfire, drop, runs } = world;
    const hf = holdfire();
    const heard = listen(hf);
    const outcome = await clock.run(drop(hf, { plan }).outcome(LOGS, ONCE));
    expect(outcome).toMatchObject({ status: "not_applied", reason: "not_sent" });
    await expect(clock.run(drop(hf, { plan })(LOGS, ONCE))).rejects.toMatchObject({
      code: expect.stringContaining("ERR_HOLDFIRE_"),
    });
    expect(heard("warning", "reader_failed")).toMatchObject([{ which: "plan" }, { which: "plan" }]);
    expect((await hf.operations.list()).items).toEqual([]);
    expect(runs).toEqual([]);
  });

  test("leaves the yes before it as it was", async () => {
    const { clock, holdfire, drop, runs } = world;
    const hf = holdfire();
    const { id } = await clock.run(drop(hf).outcome(LOGS, ONCE));
    await hf.approvals.approve(id, { digest: (await waiting(hf)).digest, by: "ana" });
    const broken = drop(hf, { plan: () => Promise.reject(new Error("down")) });
    expect(await clock.run(broken.outcome(LOGS, ONCE))).toMatchObject({ status: "held" });
    expect(runs).toEqual([]);
    expect(await clock.run(drop(hf).outcome(LOGS, ONCE))).toMatchObject({ status: "committed" });
  });
});
