/** The store loses everything while an attempt still runs, and another process makes the same call. */
import { describe, expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { notApplied } from "../../src/index.ts";
import type { Store, Swapped } from "../../src/ledger/store.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { virtualClock } from "../engine/virtual-clock.ts";
import { listen } from "../observe/heard.ts";

function open() {
  const clock = virtualClock();
  let inner = memoryStore({ now: clock.now, forgets: "accepted" });
  const store = new Proxy(inner, { get: (_, name) => Reflect.get(inner, name) });
  const witness = memoryWitness();
  const start = () =>
    createHoldfire({ app: "shop", store, witness, surroundings: { clock, random: () => 0.5 } });
  const lose = () => {
    inner = memoryStore({ now: clock.now, forgets: "accepted" });
  };
  const loseOne = async () => {
    const [one] = (await inner.list({ tenant: "default" })).items;
    if (!one) throw new Error("there is no record");
    const { record, version: expect } = one;
    const change = { tenant: "default", id: record.id, expect, record: undefined };
    await inner.swap({ ...change, lease: "none" });
  };
  const later = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  return { clock, start, lose, loseOne, later };
}

/** The tool of each process; `fired` are the processes that have fired, in order. */
function openTwo(times: { attemptTimeoutMs: number; deadlineMs: number; takesMs: number }) {
  const { clock, start, lose, later } = open();
  const { takesMs, ...timing } = times;
  const fired: string[] = [];
  const paid: string[] = [];
  const processes = ["first", "second"].map((name) => {
    const hf = start();
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      ...timing,
      commitsWithinMs: 100,
      run: async (_: object) => {
        fired.push(name);
        if (name === "first") await later(takesMs);
        paid.push(name);
      },
      readState: () => (paid.length > 0 ? committed(undefined) : absent()),
    });
    const other = hf.tool({ name: "other", kind: "write", run: async () => {} });
    return { pay, other, heard: listen(hf) };
  });
  const [first, second] = processes;
  if (!first || !second) throw new Error("there are two");
  return { clock, lose, fired, paid, first, second };
}

test.each([
  ["longer than its call waits", { attemptTimeoutMs: 1_000, deadlineMs: 7_000, takesMs: 15_000 }],
  ["longer than a short call", { attemptTimeoutMs: 1_000, deadlineMs: 2_000, takesMs: 6_000 }],
])("an attempt that runs %s: nothing is fired beside it", async (_, times) => {
  const { clock, lose, fired, paid, first, second } = openTwo(times);
  // It knows the ledger, so that it notices the loss.
  await clock.run(second.other({}, { scope: "before" }));
  const one = first.pay.outcome({}, { scope: "job", deadlineMs: 20_000 });
  await clock.advance(2_700);
  lose();
  await clock.advance(50);
  const other = second.pay.outcome({}, { scope: "job", deadlineMs: 20_000 });
  expect(await clock.run(one)).toMatchObject({ status: "committed", via: "reply" });
  expect(await clock.run(other)).toMatchObject({ status: "committed", via: "read" });
  expect([fired, paid]).toEqual([["first"], ["first"]]);
  expect([...first.heard("duplicate"), ...second.heard("duplicate")]).toEqual([]);
});

test("a store that acknowledges writes and keeps none is not asked for ever to take a late yes", async () => {
  const clock = virtualClock();
  const inner = memoryStore({ now: clock.now, forgets: "accepted" });
  let isDropping = false;
  let asks = 0;
  const dropping = <T>(answer: T, keep: () => Promise<T>): Promise<T> => {
    if (!isDropping) return keep();
    asks += 1;
    // So that a test of endless tries ends.
    return asks > 1_000 ? Promise.reject(new Error("asked too often")) : Promise.resolve(answer);
  };
  const store: Store = {
    ...inner,
    swap: (change) => {
      const now = clock.now();
      const kept = {
        ok: true,
        version: asks + 10,
        leaseUntil: now,
        now,
        sequence: asks + 10,
      } as const;
      const gone = { ok: false, current: undefined, now } as const;
      return dropping<Swapped>(change.expect === 0 ? kept : gone, () => inner.swap(change));
    },
    read: (tenant, id) =>
      dropping({ stored: undefined, now: clock.now() }, () => inner.read(tenant, id)),
  };
  const hf = createHoldfire({ store, surroundings: { clock, random: () => 0.5 } });
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    attemptTimeoutMs: 200,
    deadlineMs: 400,
    run: (_: object) => new Promise<void>((resolve) => clock.after(1_000, resolve)),
  });
  expect(await clock.run(pay.outcome({}, { scope: "job" }))).toMatchObject({
    status: "in_progress",
  });
  isDropping = true;
  await clock.advance(2_000);
  expect(asks).toBeGreaterThan(0);
  expect(asks).toBeLessThan(50);
});

test("the result of another intent under the same key is no answer to a call whose record was lost", async () => {
  const { clock, start, loseOne, later } = open();
  const pay = (cents: number, run: () => Promise<string>) =>
    start().run({ name: "pay", kind: "write", key: "order-1", args: { cents }, run });
  const one = pay(1, async () => {
    await later(1_000);
    throw new Error("the reply was lost");
  });
  await clock.advance(300);
  await loseOne();
  expect(await clock.run(pay(2, async () => "paid 2"))).toBe("paid 2");
  await expect(clock.run(one)).rejects.toMatchObject({ code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN" });
});

test("a yes is no answer to another intent under the same key, made since its record was lost", async () => {
  const { clock, start, loseOne, later } = open();
  const pay = (cents: number, run: () => Promise<string>) =>
    start().run({
      name: "pay",
      kind: "write",
      key: "order-1",
      args: { cents },
      run,
    });
  const one = pay(1, async () => {
    await later(600);
    return "paid 1";
  });
  await clock.advance(100);
  await loseOne();
  await clock.advance(100);
  const other = pay(2, async () => {
    await later(600);
    throw notApplied("declined");
  });
  const [answered, declined] = await clock.run(Promise.allSettled([one, other]));
  expect(answered).toMatchObject({ status: "fulfilled", value: "paid 1" });
  expect(declined).toMatchObject({ status: "rejected", reason: { reason: "rejected" } });
});

/** Two processes that pay, of which the second makes the record anew that the first has lost, and knows of no loss. */
function openUnnoticed(more: object = {}) {
  const { clock, start, loseOne, later } = open();
  const fired: string[] = [];
  const pays = (name: string, takesMs: number, run: () => string) =>
    start().tool({
      name: "pay",
      kind: "write",
      ...more,
      run: async (_: object) => {
        fired.push(name);
        await later(takesMs);
        return run();
      },
    });
  const lost = () => {
    throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
  };
  const refused = () => {
    throw notApplied("already paid");
  };
  return { clock, start, loseOne, fired, pays, lost, refused };
}

const JOB = { scope: "job" };

describe("an owner whose record was lost and made anew does not know what became of its send", () => {
  test.each([
    ["before the other one is refused", 1_000, 2_000],
    ["after the other one was refused", 2_000, 1_000],
  ])("%s: it may have happened", async (_, firstMs, secondMs) => {
    const { clock, start, loseOne, fired, pays, lost, refused } = openUnnoticed();
    const first = pays("first", firstMs, lost).outcome({}, JOB);
    await clock.advance(300);
    await loseOne();
    const second = pays("second", secondMs, refused).outcome({}, JOB);
    expect(await clock.run(first)).toMatchObject({ status: "unknown", reason: "store_lost" });
    // Who is told before the first one knows is told what the service said.
    const isTold = secondMs < firstMs;
    expect(await clock.run(second)).toMatchObject({ status: isTold ? "not_applied" : "unknown" });
    await clock.advance(60_000);
    const hf = start();
    expect((await clock.run(hf.operations.list({}))).items).toMatchObject([{ status: "unknown" }]);
    const again = pays("third", 0, () => "paid").outcome({}, { ...JOB, retry: "it was refused" });
    expect(await clock.run(again)).toMatchObject({ status: "unknown" });
    expect(fired).toEqual(["first", "second"]);
  });

  test("the other one, refused, does not fire again on that", async () => {
    const isBusy = (error: unknown) => (error as { code?: string }).code === "BUSY";
    const more = { classify: (error: unknown) => (isBusy(error) ? "refused" : undefined) };
    const { clock, loseOne, fired, pays, lost } = openUnnoticed(more);
    const first = pays("first", 500, lost).outcome({}, JOB);
    await clock.advance(300);
    await loseOne();
    const busy = () => {
      throw Object.assign(new Error("busy"), { code: "BUSY" });
    };
    const second = pays("second", 1_000, busy).outcome({}, JOB);
    expect(await clock.run(first)).toMatchObject({ status: "unknown" });
    expect(await clock.run(second)).toMatchObject({ status: "unknown" });
    expect(fired).toEqual(["first", "second"]);
  });

  test("a call that is stopped before it sends is not told that nothing happened", async () => {
    const { clock, start, loseOne, pays, lost } = openUnnoticed();
    const first = pays("first", 500, lost).outcome({}, JOB);
    await clock.advance(300);
    await loseOne();
    const stop = new AbortController();
    const hf = start();
    const looking = hf.tool({
      name: "pay",
      kind: "write",
      readFirst: true,
      readTimeoutMs: 5_000,
      readState: () => new Promise<never>((_, reject) => clock.after(1_000, () => reject("late"))),
      run: async (_: object) => "paid",
    });
    const second = looking.outcome({}, { ...JOB, signal: stop.signal });
    await clock.advance(500);
    stop.abort();
    expect(await clock.run(first)).toMatchObject({ status: "unknown", reason: "store_lost" });
    expect(await clock.run(second)).toMatchObject({ status: "unknown" });
    expect((await clock.run(hf.operations.list({}))).items).toMatchObject([{ status: "unknown" }]);
  });
});
