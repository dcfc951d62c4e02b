import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createHoldfire, type Holdfire, type HoldfireOptions } from "../../src/create.ts";
import type { Plan } from "../../src/engine/tool.ts";
import { ApprovalRequiredError, DeniedError } from "../../src/errors.ts";
import type { ApprovalRequest, Confirm } from "../../src/gate/approval.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { type VirtualClock, virtualClock } from "../engine/virtual-clock.ts";
import { listen } from "../scenarios/world.ts";

const ONCE = { scope: "s" };
const DAY_MS = 86_400_000;

let clock: VirtualClock;
let store: Store;
let runs: unknown[];
let plan: Plan;

beforeEach(() => {
  clock = virtualClock();
  store = memoryStore({ now: clock.now });
  runs = [];
  plan = { changes: [{ action: "delete", target: "bucket/logs" }] };
});

afterEach(() => store.close());

const holdfire = (options: Partial<HoldfireOptions> = {}): Holdfire =>
  createHoldfire({ store, surroundings: { clock, random: () => 0.5 }, ...options });

/** Drops a bucket; needs a person's yes. */
const dropOf = (hf: Holdfire, options: object = {}) =>
  hf.tool({
    name: "drop_bucket",
    kind: "destructive",
    keyed: { forMs: DAY_MS },
    alsoDoes: ["e-mails the owner"],
    plan: () => plan,
    ...options,
    run: async (args: { bucket: string; note?: string }, { key }) => {
      runs.push({ ...args, key });
      return "dropped";
    },
  });

const LOGS = { bucket: "logs" };

const waiting = async (hf: Holdfire) => {
  const { items } = await hf.approvals.list();
  const [only] = items;
  if (!only || items.length > 1) throw new Error(`${items.length} questions wait.`);
  return only;
};

describe("a destructive call", () => {
  test("is held until a person says yes: nothing is sent", async () => {
    const hf = holdfire();
    const heard = listen(hf);
    const drop = dropOf(hf);
    const outcome = await clock.run(drop.outcome(LOGS, ONCE));
    expect(outcome).toMatchObject({ status: "held", reason: "approval", attempts: 0 });
    await expect(clock.run(drop(LOGS, ONCE))).rejects.toBeInstanceOf(ApprovalRequiredError);
    expect(heard("held")).toMatchObject([{ why: "approval", id: outcome.id }]);
    expect(runs).toEqual([]);
  });

  test("shows the person tool, arguments, plan and side effects", async () => {
    const hf = holdfire();
    await clock.run(dropOf(hf).outcome(LOGS, ONCE));
    const question = await waiting(hf);
    expect(question.shown).toEqual({
      args: LOGS,
      alsoDoes: ["e-mails the owner"],
      plan: { changes: [{ action: "delete", target: "bucket/logs" }] },
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

  test("of two answers the first counts", async () => {
    const hf = holdfire();
    const drop = dropOf(hf);
    const { id } = await clock.run(drop.outcome(LOGS, ONCE));
    const { digest } = await waiting(hf);
    await hf.approvals.approve(id, { digest, by: "ana" });
    await hf.approvals.deny(id, { digest, by: "bob" });
    expect(await clock.run(drop.outcome(LOGS, ONCE))).toMatchObject({ status: "committed" });
  });
});

describe("a yes is good for exactly what was shown", () => {
  test("a changed plan asks again", async () => {
    const hf = holdfire();
    const drop = dropOf(hf);
    const { id } = await clock.run(drop.outcome(LOGS, ONCE));
    const before = await waiting(hf);
    await hf.approvals.approve(id, { digest: before.digest, by: "ana" });
    plan = { changes: [{ action: "delete", target: "bucket/logs", before: { files: 3 } }] };
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
    expect(asked).toHaveLength(runs.length);
    expect(new Set(asked.map(({ digest }) => digest)).size).toBe(2);
  });

  test("a retry within the cooldown asks again", async () => {
    const { asked, drop } = failing("refused");
    await clock.run(drop.outcome(LOGS, ONCE));
    await clock.run(drop.outcome(LOGS, { ...ONCE, retry: "now" }));
    expect(asked).toHaveLength(runs.length);
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
        plan = { changes: [{ action: "delete", target: "bucket/all" }] };
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
