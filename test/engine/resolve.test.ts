/** What a person sees of an operation, and how they settle it. */
import { beforeEach, describe, expect, test } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import { InvalidInputError, StoreUnavailableError } from "../../src/errors.ts";
import { type FailingStore, failingStore } from "./failing-store.ts";
import { type VirtualClock, virtualClock } from "./virtual-clock.ts";

const ONCE = { scope: "job" };
const BY = { by: "ana" } as const;

let clock: VirtualClock;
let store: FailingStore;
let hf: Holdfire;

beforeEach(() => {
  clock = virtualClock();
  store = failingStore({ now: clock.now, forgets: "accepted" });
  hf = createHoldfire({ store, surroundings: { clock, random: () => 0.5 } });
});

/** An operation whose `run` does this; its id. */
async function called(run: () => unknown, rest: object = {}): Promise<string> {
  const tool = hf.tool({ name: "pay", kind: "write", run: async (_: object) => run(), ...rest });
  return (await clock.run(tool.outcome({ amount: 5 }, ONCE))).id;
}

const fail = (error: object) => () => {
  throw error;
};
const lost = () => called(fail(new Error("lost")));
const seen = async (id: string) => {
  const view = await hf.operations.get(id);
  if (!view) throw new Error("There is no such operation.");
  return view;
};

describe("what is seen of it", () => {
  test("a yes: how it came to be known, and what it changed", async () => {
    const effect = { type: () => "created" as const, id: () => "pay_1" };
    const view = await seen(await called(() => "done", { effect }));
    expect(view).toMatchObject({ via: "reply", effect: "created", effectId: "pay_1", fired: 1 });
    expect(view).toMatchObject({ open: false, answers: [], rejection: undefined, by: undefined });
  });

  test("a no: with which status and code", async () => {
    const declined = Object.assign(new Error("no"), { status: 422, code: "card_declined" });
    const view = await seen(await called(fail(declined), { classify: () => "rejected" }));
    expect(view).toMatchObject({ status: "not_applied", reason: "rejected", open: false });
    expect(view.rejection).toEqual({ status: 422, code: "card_declined" });
    expect([view.via, view.effect, view.effectId]).toEqual([undefined, undefined, undefined]);
  });

  test("while it is open: what was asked for, and what each attempt failed with", async () => {
    const view = await seen(await lost());
    expect(view).toMatchObject({ open: true, intent: { amount: 5 }, rejection: undefined });
    expect(view.attempts).toMatchObject([{ n: 1, failure: { type: "Error", line: "lost" } }]);
    expect(view.sealed).toBeUndefined();
  });

  test("in a list, neither what was asked for nor the text of an error", async () => {
    await lost();
    const [item] = (await hf.operations.list()).items;
    expect(item).toBeDefined();
    expect(JSON.stringify(item)).not.toContain("amount");
    expect(JSON.stringify(item)).not.toContain("lost");
  });
});

describe("a person settles it", () => {
  test.each(["committed", "not_applied"] as const)("as %s, with name and note", async (as) => {
    const id = await lost();
    const resolved = await hf.operations.resolve(id, { as, ...BY, note: "asked the bank" });
    expect(resolved).toMatchObject({ status: as, open: false, by: "ana", note: "asked the bank" });
    expect(resolved.via).toBe(as === "committed" ? "person" : undefined);
    expect(resolved.reason).toBe(as === "committed" ? undefined : "resolved");
    expect(await seen(id)).toEqual(resolved);
  });

  test("nobody settles it as something else, without a name, or with a note without end", async () => {
    const id = await lost();
    const as = "committed" as const;
    for (const [resolution, words] of [
      [{ as: "unknown", ...BY }, "as: must be"],
      [{ as, by: "" }, "by"],
      [{ as, ...BY, note: "x".repeat(100_000) }, "note"],
    ] as const) {
      const resolving = hf.operations.resolve(id, resolution as never);
      await expect(resolving).rejects.toThrow(InvalidInputError);
      await expect(resolving).rejects.toThrow(words);
    }
    expect(await seen(id)).toMatchObject({ status: "unknown" });
  });

  test("one that is not there, and one that is settled, is refused with the reason", async () => {
    const id = await lost();
    await hf.operations.resolve(id, { as: "not_applied", ...BY });
    await expect(hf.operations.resolve(id, { as: "committed", ...BY })).rejects.toThrow(
      `operation ${id}: is settled already.`,
    );
    await expect(hf.operations.resolve("nobody", { as: "committed", ...BY })).rejects.toThrow(
      "there is no such operation.",
    );
    expect(await seen(id)).toMatchObject({ status: "not_applied" });
  });

  test("one that another process owns is refused while its lease lasts", async () => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const tool = hf.tool({ name: "pay", kind: "write", run: (_: object) => ended });
    const calling = tool.outcome({}, ONCE);
    await clock.settle();
    const [item] = (await hf.operations.list({ open: true })).items;
    const id = item?.id ?? "";
    expect(item?.leaseUntil).toBeGreaterThan(clock.now());
    await expect(hf.operations.resolve(id, { as: "committed", ...BY })).rejects.toThrow("is owned");
    end();
    expect(await clock.run(calling)).toMatchObject({ status: "committed" });
    expect((await seen(id)).leaseUntil).toBeUndefined();
  });

  test("one that has changed since they saw it is refused, and the same view is not", async () => {
    const id = await lost();
    const { at } = await seen(id);
    const as = "committed" as const;
    await expect(hf.operations.resolve(id, { as, ...BY, asOf: at - 1 })).rejects.toThrow(
      "has changed since you read it",
    );
    expect(await hf.operations.resolve(id, { as, ...BY, asOf: at })).toMatchObject({ status: as });
  });
});

test("a word that a slow ledger takes in late is not taken for what was sent since", async () => {
  let sent = 0;
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    attempts: 1,
    run: async (_: object) => {
      sent += 1;
      throw new Error("lost");
    },
  });
  const { id } = await clock.run(pay.outcome({}, ONCE));
  const no = { as: "not_applied", ...BY } as const;
  let late = true;
  store.fail("hangs", (step) => {
    const isFirst = step === "swap:not_applied" && late;
    late &&= !isFirst;
    return isFirst;
  });
  await expect(clock.run(hf.operations.resolve(id, no))).rejects.toThrow(StoreUnavailableError);
  // The person says it again, and it is sent once more.
  await hf.operations.resolve(id, no);
  expect(await clock.run(pay.outcome({}, ONCE))).toMatchObject({ status: "unknown", attempts: 2 });
  store.recover();
  await clock.settle();
  expect(await seen(id)).toMatchObject({ status: "unknown" });
  expect(await clock.run(pay.outcome({}, ONCE))).toMatchObject({ status: "unknown" });
  expect(sent).toBe(2);
});

describe("a ledger that does not answer", () => {
  test.each<[string, () => Promise<unknown>]>([
    ["list", () => hf.operations.list()],
    ["read", () => hf.operations.get("nobody")],
    ["resolve", () => hf.operations.resolve("nobody", { as: "committed", ...BY })],
  ])("%s: a clear error that names the step", async (step, ask) => {
    await hf.operations.list();
    store.fail("rejects");
    const asking = clock.run(ask());
    await expect(asking).rejects.toThrow(StoreUnavailableError);
    await expect(asking).rejects.toThrow(step);
  });

  test("the first question opens it", async () => {
    store.fail("rejects", (step) => step === "open");
    await expect(clock.run(hf.operations.list())).rejects.toThrow("open");
    store.recover();
    await hf.operations.get("nobody");
    expect(store.asked).toContain("open");
  });
});
