/**
 * Equal operations of which several are in doubt at once, and a reader that looks by likeness: whose is what it finds? None
 * waits for another for ever, and none takes what another one's reply will name.
 */
import { describe, expect, test } from "vitest";
import type { AttemptContext } from "../../src/engine/define/definition.ts";
import {
  absent,
  committed,
  type Reading,
  type StateQuery,
} from "../../src/engine/define/reading.ts";
import { sleep } from "../../src/lang/clock.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { until } from "../engine/virtual-clock.ts";
import { openWorld, type WorldOptions } from "./world.ts";

interface Payout {
  readonly id: string;
  readonly payee: string;
}

/** `lost`: it is made, and the reply is lost. `never`: the request is lost, but not when it is sent again. `slow`: the reply is held back. */
type How = "lost" | "never" | "slow" | "takes a while";

interface Args {
  readonly payee: string;
  readonly how: How;
}

interface Options {
  readonly readFirst?: boolean;
  readonly readState?: () => Reading<Payout>;
}

async function openBank(options: WorldOptions = {}, more: Options = {}) {
  const world = await openWorld(options);
  const { clock } = world;
  const made: Payout[] = [];
  const bank = { isDown: false, runs: 0, release: () => {} };
  const released = new Promise<void>((resolve) => {
    bank.release = resolve;
  });
  const readByLikeness = async ({ intent, taken }: StateQuery<{ readonly payee: string }>) => {
    if (bank.isDown) throw new Error("The bank is down.");
    for (const payout of made) {
      const isFree = payout.payee === intent.payee && !(await taken(payout.id));
      if (isFree) return committed(payout, { effectId: payout.id });
    }
    return absent();
  };
  const { readFirst, readState = readByLikeness } = more;
  const payWith = (hf = world.hf) =>
    hf.tool({
      name: "pay",
      kind: "write",
      intent: ({ payee }: Args) => ({ payee }),
      commitsWithinMs: 1_000,
      effect: { id: ({ id }: Payout) => id },
      run: async ({ payee, how }: Args, { attempt }: AttemptContext): Promise<Payout> => {
        bank.runs += 1;
        const isLost = attempt === 1 && (how === "lost" || how === "never");
        if (how === "never" && isLost) throw new Error("The connection was lost.");
        const payout = { id: `p${made.length + 1}`, payee };
        made.push(payout);
        if (isLost) throw new Error("The connection was lost.");
        if (how === "takes a while") await sleep(clock, 60);
        if (how === "slow") await released;
        return payout;
      },
      readFirst,
      readState,
    });
  return { ...world, bank, made, payWith, pay: payWith() };
}

const effectsOf = (outcomes: readonly unknown[]) =>
  outcomes.map((outcome) => (outcome as { readonly effectId?: string }).effectId).toSorted();

const ben = (how: How): Args => ({ payee: "ben", how });

describe("two of which both replies are lost, and both were made", () => {
  test("are both found, each once", async () => {
    const { pass, pay } = await openBank();
    const both = ["one", "two"].map((scope) => pay.outcome(ben("lost"), { scope }));
    const [one, two] = await pass(Promise.all(both));
    expect([one?.status, two?.status]).toEqual(["committed", "committed"]);
    expect(effectsOf([one, two])).toEqual(["p1", "p2"]);
  });

  test("are both settled by reconcile, where their calls could not read", async () => {
    const { pass, pay, bank, hf, clock } = await openBank();
    bank.isDown = true;
    const both = ["one", "two"].map((scope) => pay.outcome(ben("lost"), { scope }));
    for (const { status } of await pass(Promise.all(both))) expect(status).toBe("unknown");
    bank.isDown = false;
    await clock.advance(60_000);
    expect(await pass(hf.reconcile())).toMatchObject({ committed: 2, stillUnknown: [] });
  });

  test("in two processes, each waits no longer than its call: one finds its own then, reconcile the other's", async () => {
    const { pass, pay, payWith, another, hf } = await openBank();
    const payThere = payWith(another());
    const first = pay.outcome(ben("lost"), { scope: "one", deadlineMs: 10_000 });
    const second = payThere.outcome(ben("lost"), { scope: "two" });
    expect(await pass(first)).toMatchObject({ status: "unknown", reason: "cannot_tell" });
    expect(await pass(second)).toMatchObject({ status: "committed" });
    expect(await pass(hf.reconcile())).toMatchObject({ committed: 1, stillUnknown: [] });
  });
});

test("where one was made and the other not, one is found, and the other is made", async () => {
  const { pass, pay, made } = await openBank();
  const both = [
    pay.outcome(ben("lost"), { scope: "one" }),
    pay.outcome(ben("never"), { scope: "two" }),
  ];
  const outcomes = await pass(Promise.all(both));
  expect(outcomes.map(({ status }) => status)).toEqual(["committed", "committed"]);
  expect(effectsOf(outcomes)).toEqual(["p1", "p2"]);
  expect(made).toHaveLength(2);
});

test("a reader that finds one thing for both settles one of them, and says nothing untrue of the other", async () => {
  const thing = { id: "there", payee: "ben" };
  const { pass, pay } = await openBank({}, { readState: () => committed(thing) });
  const both = ["one", "two"].map((scope) => pay.reply(ben("never"), { scope }));
  const [one, two] = await pass(Promise.all(both));
  expect([one?.outcome, two?.outcome].toSorted()).toEqual(["committed", "unknown"]);
  expect([one?.message, two?.message].join(" ")).not.toContain("accepted");
});

test("equal calls that follow each other without end do not keep one from its effect", async () => {
  const { pass, pay, heard, made } = await openBank();
  let [isOver, calls] = [false, 0];
  const lane = async () => {
    while (!isOver) {
      calls += 1;
      await pay.outcome(ben("takes a while"), { scope: `lane-${calls}` });
    }
  };
  const lanes = [lane(), lane()];
  const first = await pass(pay.outcome(ben("lost"), { scope: "first" }));
  isOver = true;
  await pass(Promise.all(lanes));
  expect(first).toMatchObject({ status: "committed" });
  expect(heard("warning", "effect_mistaken")).toEqual([]);
  expect(made).toHaveLength(calls + 1);
});

test("the effect of one that began later, and whose reply is to come, is not taken either", async () => {
  const { pass, clock, pay, bank, made, heard } = await openBank();
  const first = pay.outcome(ben("never"), { scope: "first" });
  await until(() => bank.runs === 1);
  await clock.settle();
  const later = pay.outcome(ben("slow"), { scope: "later" });
  await until(() => made.length === 1);
  await clock.advance(3_000);
  bank.release();
  expect(await pass(later)).toMatchObject({ status: "committed", effectId: "p1" });
  expect(await pass(first)).toMatchObject({ status: "committed", effectId: "p2", attempts: 2 });
  expect(heard("warning", "effect_mistaken")).toEqual([]);
});

describe("before anything is sent", () => {
  const STORES: Readonly<Record<string, WorldOptions>> = {
    "that remembers": {},
    "that may forget": { store: (now) => memoryStore({ now, forgets: "accepted" }) },
  };

  test.each(Object.entries(STORES))(
    "what is there already need not be sent, whoever made it, with a store %s",
    async (_, options) => {
      const there = { id: "there", payee: "ben" };
      const readState = () => committed(there);
      const { pass, pay, bank } = await openBank(options, { readFirst: true, readState });
      const both = ["one", "two"].map((scope) => pay.outcome(ben("lost"), { scope }));
      for (const outcome of await pass(Promise.all(both))) {
        expect(outcome).toMatchObject({ status: "committed", effect: "noop", attempts: 0 });
      }
      const later = pay.outcome(ben("lost"), { scope: "later" });
      expect(await pass(later)).toMatchObject({ status: "committed", effect: "noop" });
      expect(bank.runs).toBe(0);
    },
  );

  test.each(Object.entries(STORES))(
    "it waits to see whose effect it is, and sends its own if it is another's, with a store %s",
    async (_, options) => {
      const { pass, clock, pay, bank, made } = await openBank(options, { readFirst: true });
      const first = pay.outcome(ben("slow"), { scope: "first" });
      await until(() => made.length === 1);
      const second = pay.outcome(ben("lost"), { scope: "second" });
      await clock.advance(3_000);
      expect(bank.runs).toBe(1);
      bank.release();
      expect(await pass(first)).toMatchObject({ status: "committed", effectId: "p1" });
      expect(await pass(second)).toMatchObject({ status: "committed", effectId: "p2" });
      expect(made).toHaveLength(2);
    },
  );

  test.each([
    ["that remembers", { status: "not_applied", reason: "expired" }],
    ["that may forget", { status: "unknown", reason: "cannot_tell", recorded: false }],
  ])("where that takes too long, nothing is sent, with a store %s", async (store, outcome) => {
    const { pass, pay, bank, made } = await openBank(STORES[store], { readFirst: true });
    const first = pay.outcome(ben("slow"), { scope: "first" });
    await until(() => made.length === 1);
    const second = pay.outcome(ben("lost"), { scope: "second", deadlineMs: 5_000 });
    expect(await pass(second)).toMatchObject(outcome);
    expect(bank.runs).toBe(1);
    bank.release();
    expect(await pass(first)).toMatchObject({ status: "committed", effectId: "p1" });
  });

  test("who leaves meanwhile has sent nothing", async () => {
    const { pass, clock, pay, bank, made } = await openBank({}, { readFirst: true });
    const first = pay.outcome(ben("slow"), { scope: "first" });
    await until(() => made.length === 1);
    const stop = new AbortController();
    const second = pay.outcome(ben("lost"), { scope: "second", signal: stop.signal });
    await clock.advance(3_000);
    stop.abort();
    expect(await pass(second)).toMatchObject({ status: "not_applied", reason: "aborted" });
    bank.release();
    await pass(first);
    expect(bank.runs).toBe(1);
  });
});
