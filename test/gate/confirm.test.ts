import { beforeEach, describe, expect, test } from "vitest";
import type { Holdfire, HoldfireOptions } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import type { ApprovalAnswer } from "../../src/gate/decision.ts";
import type { ApprovalRequest } from "../../src/gate/question.ts";
import { until, type VirtualClock } from "../engine/virtual-clock.ts";
import { type BucketWorld, type Drop, LOGS, ONCE, openBucket } from "./bucket.ts";

let world: BucketWorld;
let clock: VirtualClock;
let runs: unknown[];
const holdfire = (options?: Partial<HoldfireOptions>): Holdfire => world.holdfire(options);
const dropOf = (hf: Holdfire, options?: object): GuardedTool<Drop, string> =>
  world.drop(hf, options);

beforeEach(() => {
  world = openBucket();
  ({ clock, runs } = world);
});

describe("confirm, on the spot", () => {
  test("gets what the person is to see, and its yes fires", async () => {
    const asked: ApprovalRequest[] = [];
    const hf = holdfire({
      confirm: async (request) => {
        asked.push(request);
        return { approve: true, by: "ana" };
      },
    });
    const outcome = await clock.run(dropOf(hf).outcome(LOGS, ONCE));
    expect(outcome).toMatchObject({ status: "committed" });
    expect(asked).toMatchObject([
      {
        id: outcome.id,
        tool: "drop_bucket",
        scope: "s",
        args: LOGS,
        alsoDoes: ["e-mails the owner"],
        plan: { changes: [{ target: "bucket/logs" }] },
      },
    ]);
  });

  test("its no is final", async () => {
    const hf = holdfire({ confirm: () => ({ approve: false, by: "ana" }) });
    const drop = dropOf(hf);
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({ status: "denied" });
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({ status: "denied" });
    expect(runs).toEqual([]);
  });

  test("a confirm that never answers keeps a call no longer than its question lasts", async () => {
    let asked = 0;
    const hf = holdfire({
      confirm: () => {
        asked += 1;
        return new Promise(() => {});
      },
    });
    const drop = dropOf(hf);
    const outcome = await clock.run(drop.outcome(LOGS, ONCE));
    expect(outcome).toMatchObject({ status: "held", reason: "approval" });
    expect(await hf.approvals.wait(outcome.id)).toEqual({ status: "expired" });
    expect(asked).toBe(1);
    // The next call asks anew.
    await clock.run(drop.outcome(LOGS, ONCE));
    expect(asked).toBe(2);
    expect(runs).toHaveLength(0);
  });

  test("a no that comes when the question has expired is a no, and is told", async () => {
    let answer = (_: ApprovalAnswer) => {};
    const hf = holdfire({
      confirm: () =>
        new Promise<ApprovalAnswer>((resolve) => {
          answer = resolve;
        }),
    });
    const told: unknown[] = [];
    hf.on("approval", ({ status, by }) => told.push([status, by]));
    const drop = dropOf(hf);
    const outcome = await clock.run(drop.outcome(LOGS, ONCE));
    expect(outcome).toMatchObject({ status: "held", reason: "approval" });
    answer({ approve: false, by: "ana" });
    await clock.settle();
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({ status: "denied" });
    expect(told.at(-1)).toEqual(["denied", "ana"]);
    expect(runs).toHaveLength(0);
  });

  test.each([
    ["no", false, "denied", 0],
    ["yes", true, "committed", 1],
  ] as const)(
    "a %s after the caller has left is an answer all the same",
    async (_, approve, status, fired) => {
      let asked = 0;
      let say: (answer: ApprovalAnswer) => void = () => {};
      const hf = holdfire({
        confirm: () => {
          asked += 1;
          return new Promise((resolve) => {
            say = resolve;
          });
        },
      });
      const drop = dropOf(hf);
      const caller = new AbortController();
      // Not by `clock.run`: while only the person is waited for, that would leap to the end of the question.
      const left = drop.outcome(LOGS, { ...ONCE, signal: caller.signal });
      await until(() => asked === 1);
      caller.abort();
      const { id } = await left;
      expect(await left).toMatchObject({ status: "held" });
      say({ approve, by: "ana" });
      expect(await clock.run(hf.approvals.wait(id))).toMatchObject({
        status: approve ? "approved" : "denied",
        by: "ana",
      });
      expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({ status });
      expect(asked).toBe(1);
      expect(runs).toHaveLength(fired);
    },
  );

  test("a person's time is outside the deadline", async () => {
    const hf = holdfire({
      confirm: () =>
        new Promise((resolve) => {
          clock.after(600_000, () => resolve({ approve: true, by: "ana" }));
        }),
    });
    const outcome = await clock.run(dropOf(hf).outcome(LOGS, { ...ONCE, deadlineMs: 1_000 }));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
  });

  test("the plan is made again before it is applied: a changed one is held", async () => {
    const hf = holdfire({
      confirm: () => {
        world.plan = { changes: [{ type: "delete", target: "bucket/all" }] };
        return { approve: true, by: "ana" };
      },
    });
    expect(await clock.run(dropOf(hf).outcome(LOGS, ONCE))).toMatchObject({ status: "held" });
    expect(runs).toEqual([]);
  });

  test("one that throws sends nothing, and the question stays", async () => {
    const hf = holdfire({ confirm: () => Promise.reject(new Error("nobody there")) });
    const call = dropOf(hf).outcome(LOGS, ONCE);
    await clock.run(call.catch(() => {}));
    expect((await hf.operations.list()).items).toMatchObject([{ status: "held" }]);
    expect(runs).toEqual([]);
  });

  test("an abort while the person thinks ends the call, and nothing is sent", async () => {
    let answer: (given: { approve: boolean; by: string }) => void = () => {};
    const hf = holdfire({
      confirm: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    const stop = new AbortController();
    const call = dropOf(hf).outcome(LOGS, { ...ONCE, signal: stop.signal });
    await clock.settle();
    stop.abort();
    const ended = await Promise.race([call, clock.advance(60_000).then(() => "still waiting")]);
    expect(ended).not.toBe("still waiting");
    answer({ approve: true, by: "ana" });
    await clock.advance(1_000);
    expect(runs).toEqual([]);
  });

  test("a plan that throws or hangs sends nothing", async () => {
    const hf = holdfire();
    const broken = dropOf(hf, { plan: () => Promise.reject(new Error("down")) });
    await clock.run(broken.outcome(LOGS, ONCE).catch(() => {}));
    const hung = dropOf(hf, { plan: () => new Promise(() => {}) });
    const call = hung.outcome(LOGS, { scope: "s2" }).catch(() => "ended");
    const ended = await Promise.race([call, clock.advance(120_000).then(() => "still waiting")]);
    expect(ended).not.toBe("still waiting");
    expect(runs).toEqual([]);
  });

  test("a tool that writes needs nobody's leave", async () => {
    const hf = holdfire({ confirm: () => ({ approve: false, by: "ana" }) });
    const drop = dropOf(hf, { name: "write", kind: "write" });
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({ status: "committed" });
  });
});
