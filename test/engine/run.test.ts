/**
 * What `conclude` makes of an error of the engine's own, and what it gives back at its end. The steps have tests of their own.
 */
import { describe, expect, test } from "vitest";
import type { Budgets } from "../../src/engine/budget.ts";
import { conclude } from "../../src/engine/run.ts";
import type { settle } from "../../src/engine/steps/settle.ts";
import { LeaseLostError } from "../../src/errors.ts";
import { type Owner, type OwnerOptions, ownerOf } from "./owner-of.ts";

const BROKEN = new Error("A part of the engine is broken.");
const broken: typeof settle = () => Promise.reject(BROKEN);

/** An owner that has nothing more to fire: its first pass goes straight to what comes next. */
async function ownerWithout(options?: OwnerOptions): Promise<Owner> {
  const owner = await ownerOf(options);
  owner.owned.licence = undefined;
  return owner;
}

/** Time passes while it is under way. */
const ending = ({ owned, engine }: Owner, settleWith?: typeof settle) =>
  engine.clock.run(conclude(owned, engine, settleWith));

/** Counts the tokens that are put back. */
function countingBudgets(): Budgets & { readonly returned: string[] } {
  const returned: string[] = [];
  return {
    returned,
    reserve: () => 0,
    putBack: (service) => void returned.push(service),
    reward() {},
  };
}

describe("an error of the engine's own", () => {
  test("after a write was fired, it ends in an outcome, and in the ledger", async () => {
    const owner = await ownerWithout();
    await owner.fire({ verdict: "unknown" });
    const outcome = await ending(owner, broken);
    expect(outcome).toMatchObject({ status: "unknown", reason: "cannot_tell", recorded: true });
    expect((await owner.record())?.state).toMatchObject({ tag: "unknown", reason: "cannot_tell" });
    expect(owner.heard("store", "error")).toMatchObject([{ step: "run", error: BROKEN }]);
  });

  test("after an owner before this one has fired it, a call ends in an outcome, too", async () => {
    const owner = await ownerWithout({ before: { verdict: "unknown" } });
    expect(owner.owned.execution.sent).toBe(true);
    expect(await ending(owner, broken)).toMatchObject({ status: "unknown" });
  });

  test.each(["by_key", "never"] as const)(
    "reconcile (%s), which has fired nothing itself, tells its own failures",
    async (fireMode) => {
      const before = { verdict: "unknown" } as const;
      const owner = await ownerWithout({ execution: { fireMode }, before });
      await expect(ending(owner, broken)).rejects.toBe(BROKEN);
      expect((await owner.record())?.state.tag).toBe("claimed");
    },
  );

  test("before anything was fired, it is thrown as it is, and nothing is written", async () => {
    const owner = await ownerWithout();
    await expect(ending(owner, broken)).rejects.toBe(BROKEN);
    expect((await owner.record())?.state.tag).toBe("claimed");
    expect(owner.heard("store")).toEqual([]);
  });

  test("in a transaction that cannot be committed any more, it is thrown also after the send", async () => {
    const owner = await ownerWithout();
    await owner.fire({ verdict: "committed" }, { id: "1" });
    const lost = new LeaseLostError({ id: owner.owned.operation.ref.id, tool: "order", key: "k" });
    await expect(ending(owner, () => Promise.reject(lost))).rejects.toBe(lost);
  });
});

describe("at its end", () => {
  test("a token that was reserved and not used goes back to its service", async () => {
    const budgets = countingBudgets();
    const owner = await ownerWithout({ engine: { budgets } });
    await owner.fire({ verdict: "committed" }, { id: "1" });
    owner.owned.resendAt = 1;
    await ending(owner);
    expect(budgets.returned).toEqual([owner.owned.operation.tool.service]);
  });

  test("where none was reserved, none is put back", async () => {
    const budgets = countingBudgets();
    const owner = await ownerWithout({ engine: { budgets } });
    await owner.fire({ verdict: "committed" }, { id: "1" });
    expect(await ending(owner)).toMatchObject({ status: "committed" });
    expect(budgets.returned).toEqual([]);
  });

  test.each([
    ["an outcome", undefined],
    ["an error", broken],
  ])(
    "with %s, the lease is not renewed any more, and slow attempts are told to stop",
    async (_how, settleWith) => {
      const owner = await ownerWithout();
      const { owned, engine } = owner;
      const before = engine.clock.pending();
      const stopped: number[] = [];
      await owner.fire({ verdict: "committed" }, { id: "1" });
      const time = { end: { monotonic: 0, wall: 0 }, skew: 0 };
      owned.slow = new Map([[1, { time, stop: () => void stopped.push(1) }]]);
      if (settleWith) owned.fires = 0;
      await ending(owner, settleWith).catch(() => {});
      expect(owned.active).toBe(false);
      expect(stopped).toEqual([1]);
      expect(engine.clock.pending()).toBe(before);
    },
  );
});
