import { beforeEach, describe, expect, test } from "vitest";
import type { Holdfire, HoldfireOptions } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import { ApprovalRequiredError, DeniedError } from "../../src/errors.ts";
import type { Confirm } from "../../src/gate/ask-person.ts";
import type { ApprovalRequest } from "../../src/gate/question.ts";
import type { VirtualClock } from "../engine/virtual-clock.ts";
import { listen } from "../scenarios/world.ts";
import { type BucketWorld, DAY_MS, type Drop, LOGS, ONCE, openBucket, waiting } from "./bucket.ts";

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

describe("a destructive call", () => {
  test("is held until a person says yes: nothing is sent", async () => {
    const hf = holdfire();
    const heard = listen(hf);
    const drop = dropOf(hf);
    const outcome = await clock.run(drop.outcome(LOGS, ONCE));
    expect(outcome).toMatchObject({ status: "held", reason: "approval", attempts: 0 });
    await expect(clock.run(drop(LOGS, ONCE))).rejects.toBeInstanceOf(ApprovalRequiredError);
    expect(heard("approval", "asked")).toMatchObject([{ why: "approval", id: outcome.id }]);
    expect(runs).toEqual([]);
  });

  test("shows the person tool, arguments, plan and side effects", async () => {
    const hf = holdfire();
    await clock.run(dropOf(hf).outcome(LOGS, ONCE));
    const question = await waiting(hf);
    expect(question.shown).toEqual({
      args: LOGS,
      alsoDoes: ["e-mails the owner"],
      plan: { changes: [{ type: "delete", target: "bucket/logs" }] },
      tool: "drop_bucket",
    });
    expect(question).toMatchObject({ answered: false, operation: { status: "held", open: true } });
    expect(question.expiresAt).toBe(clock.now() + DAY_MS);
  });

  test("fires after the yes, once, and is replayed after that", async () => {
    const hf = holdfire();
    const drop = dropOf(hf);
    const { id } = await clock.run(drop.outcome(LOGS, ONCE));
    const { digest } = await waiting(hf);
    await hf.approvals.approve(id, { digest, by: "ana" });
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({
      status: "committed",
      replayed: false,
      attempts: 1,
    });
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({ replayed: true });
    expect(runs).toHaveLength(1);
    expect((await hf.approvals.list()).items).toEqual([]);
  });

  test("the yes holds in another process", async () => {
    const hf = holdfire();
    const { id } = await clock.run(dropOf(hf).outcome(LOGS, ONCE));
    const other = holdfire();
    const { digest } = await waiting(other);
    await other.approvals.approve(id, { digest, by: "ana" });
    const third = dropOf(holdfire());
    expect(await clock.run(third.outcome(LOGS, ONCE))).toMatchObject({ status: "committed" });
  });

  test("a no is final, also for a later yes", async () => {
    const hf = holdfire();
    const drop = dropOf(hf);
    const { id } = await clock.run(drop.outcome(LOGS, ONCE));
    const { digest } = await waiting(hf);
    await hf.approvals.deny(id, { digest, by: "ana", note: "we need those" });
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({
      status: "denied",
      by: "ana",
    });
    await expect(clock.run(drop(LOGS, ONCE))).rejects.toBeInstanceOf(DeniedError);
    await expect(hf.approvals.approve(id, { digest, by: "eve" })).rejects.toThrow("final");
    const retried = await clock.run(drop.outcome(LOGS, { ...ONCE, retry: "please" }));
    expect(retried).toMatchObject({ status: "denied" });
    expect(runs).toEqual([]);
  });

  test("a no is final as long as nothing was sent, also after a yes", async () => {
    const hf = holdfire();
    const drop = dropOf(hf);
    const { id } = await clock.run(drop.outcome(LOGS, ONCE));
    const { digest } = await waiting(hf);
    await hf.approvals.approve(id, { digest, by: "ana" });
    await hf.approvals.deny(id, { digest, by: "bob" });
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({ status: "denied" });
  });
});

describe("a yes is good for exactly what was shown", () => {
  test("a changed plan asks again", async () => {
    const hf = holdfire();
    const drop = dropOf(hf);
    const { id } = await clock.run(drop.outcome(LOGS, ONCE));
    const before = await waiting(hf);
    await hf.approvals.approve(id, { digest: before.digest, by: "ana" });
    world.plan = { changes: [{ type: "delete", target: "bucket/logs", before: { files: 3 } }] };
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({ status: "held" });
    const after = await waiting(hf);
    expect(after.digest).not.toBe(before.digest);
    expect(after.answered).toBe(false);
    await expect(hf.approvals.approve(id, { digest: before.digest, by: "ana" })).rejects.toThrow(
      "changed",
    );
    expect(runs).toEqual([]);
  });

  test("other arguments outside the intent ask again", async () => {
    const hf = holdfire();
    const drop = dropOf(hf, { intent: ({ bucket }: { bucket: string }) => ({ bucket }) });
    const { id } = await clock.run(drop.outcome({ ...LOGS, note: "a" }, ONCE));
    const { digest } = await waiting(hf);
    await hf.approvals.approve(id, { digest, by: "ana" });
    const other = await clock.run(drop.outcome({ ...LOGS, note: "b" }, ONCE));
    expect(other).toMatchObject({ status: "held", id });
    expect(runs).toEqual([]);
  });

  test("another policy version asks again", async () => {
    const hf = holdfire({ approvals: { policyVersion: "1" } });
    const { id } = await clock.run(dropOf(hf).outcome(LOGS, ONCE));
    const { digest } = await waiting(hf);
    await hf.approvals.approve(id, { digest, by: "ana" });
    const stricter = holdfire({ approvals: { policyVersion: "2" } });
    expect(await clock.run(dropOf(stricter).outcome(LOGS, ONCE))).toMatchObject({ status: "held" });
    expect(runs).toEqual([]);
  });

  test("a yes of another operation or tenant is none", async () => {
    const hf = holdfire();
    const drop = dropOf(hf);
    const { id } = await clock.run(drop.outcome(LOGS, ONCE));
    const { digest } = await waiting(hf);
    const other = await clock.run(drop.outcome({ bucket: "other" }, ONCE));
    await expect(hf.approvals.approve(other.id, { digest, by: "ana" })).rejects.toThrow("changed");
    const tenant = hf.forTenant("other");
    await expect(tenant.approvals.approve(id, { digest, by: "eve" })).rejects.toThrow("no such");
  });

  test("an expired question can no longer be answered, and is asked anew", async () => {
    const hf = holdfire({ approvals: { expiryMs: 60_000 } });
    const drop = dropOf(hf);
    const { id } = await clock.run(drop.outcome(LOGS, ONCE));
    const { digest } = await waiting(hf);
    await clock.advance(60_000);
    await expect(hf.approvals.approve(id, { digest, by: "ana" })).rejects.toThrow("expired");
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({ status: "held" });
    expect((await waiting(hf)).digest).not.toBe(digest);
  });

  test("a yes that was not used in time is gone", async () => {
    const hf = holdfire({ approvals: { expiryMs: 60_000 } });
    const drop = dropOf(hf);
    const { id } = await clock.run(drop.outcome(LOGS, ONCE));
    const { digest } = await waiting(hf);
    await hf.approvals.approve(id, { digest, by: "ana" });
    await clock.advance(60_000);
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({ status: "held" });
    expect(runs).toEqual([]);
  });

  test("the same call asks the same question, not a second one", async () => {
    const hf = holdfire();
    const drop = dropOf(hf);
    await clock.run(drop.outcome(LOGS, ONCE));
    const { digest } = await waiting(hf);
    await clock.advance(1_000);
    await clock.run(drop.outcome(LOGS, ONCE));
    expect((await waiting(hf)).digest).toBe(digest);
  });
});

describe("a yes covers every licensed attempt, and nothing after the operation ended", () => {
  test("a resend under a key needs no second yes", async () => {
    const hf = holdfire();
    const drop = hf.tool({
      name: "drop",
      kind: "destructive",
      keyed: { forMs: DAY_MS },
      run: async (_: typeof LOGS, { attempt, key }) => {
        runs.push(key);
        if (attempt < 3) throw new Error("reset");
        return "dropped";
      },
    });
    const { id } = await clock.run(drop.outcome(LOGS, ONCE));
    await hf.approvals.approve(id, { digest: (await waiting(hf)).digest, by: "ana" });
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({
      status: "committed",
      attempts: 3,
    });
    expect(new Set(runs).size).toBe(1);
  });

  /** Ends as not applied each time, and says yes to everything. */
  function failing(verdict: "rejected" | "refused") {
    const asked: ApprovalRequest[] = [];
    const confirm: Confirm = (request) => {
      asked.push(request);
      return { approve: true, by: "ana" };
    };
    const hf = holdfire({ confirm });
    const drop = hf.tool({
      name: "drop",
      kind: "destructive",
      attempts: 1,
      keyed: { forMs: DAY_MS },
      classify: () => verdict,
      run: async (_: typeof LOGS, { key }) => {
        runs.push(key);
        throw new Error("no");
      },
    });
    return { asked, drop };
  }

  test("another try of a rejected one asks again", async () => {
    const { asked, drop } = failing("rejected");
    await clock.run(drop.outcome(LOGS, ONCE));
    await clock.run(drop.outcome(LOGS, ONCE));
    expect(runs).toHaveLength(1);
    await clock.run(drop.outcome(LOGS, { ...ONCE, retry: "it is unlocked now" }));
    expect(runs).toHaveLength(2);
    expect(asked).toHaveLength(2);
  });

  test("a retry within the cooldown asks again", async () => {
    const { asked, drop } = failing("refused");
    await clock.run(drop.outcome(LOGS, ONCE));
    await clock.run(drop.outcome(LOGS, { ...ONCE, retry: "now" }));
    expect(runs).toHaveLength(2);
    expect(asked).toHaveLength(2);
  });

  test("after the cooldown it asks again", async () => {
    const { asked, drop } = failing("refused");
    await clock.run(drop.outcome(LOGS, ONCE));
    await clock.advance(30_000);
    await clock.run(drop.outcome(LOGS, ONCE));
    expect(runs).toHaveLength(2);
    expect(asked).toHaveLength(2);
  });

  test("an abort between the yes and the send gives the yes back", async () => {
    const hf = holdfire();
    const drop = dropOf(hf);
    const { id } = await clock.run(drop.outcome(LOGS, ONCE));
    await hf.approvals.approve(id, { digest: (await waiting(hf)).digest, by: "ana" });
    const stop = new AbortController();
    const { store } = world;
    const { swap } = store;
    Object.assign(store, {
      swap: async (change: Parameters<typeof swap>[0]) => {
        const swapped = await swap(change);
        if (change.record?.state.tag === "claimed") stop.abort();
        return swapped;
      },
    });
    const stopped = await clock.run(drop.outcome(LOGS, { ...ONCE, signal: stop.signal }));
    expect(stopped).toMatchObject({ status: "not_applied", reason: "aborted" });
    expect(runs).toEqual([]);
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({ status: "committed" });
  });
});
