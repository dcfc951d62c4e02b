import { describe, expect, test } from "vitest";
import { OperationInProgressError } from "../../src/errors.ts";
import { type EffectBody, faults } from "../../src/testing/faulty-service.ts";
import { until } from "../engine/virtual-clock.ts";
import { keysOf, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

/** A run that lands when the test says so. */
function hangar() {
  const waiting: ((result: EffectBody) => void)[] = [];
  return {
    run: () => new Promise<EffectBody>((resolve) => waiting.push(resolve)),
    land(id = "ef_1") {
      for (const resolve of waiting) resolve({ id } as EffectBody);
    },
    runs: () => waiting.length,
  };
}

describe("many callers of one operation in one process", () => {
  test("one fires, the others wait for the same result", async () => {
    const { service, order, pass } = await openWorld();
    const mail = order("neither");
    const calls = Array.from({ length: 8 }, () => mail.outcome(TEA, ONCE));
    const outcomes = await pass(Promise.all(calls));
    expect(outcomes.every(({ status }) => status === "committed")).toBe(true);
    expect(outcomes.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(outcomes.filter((one) => "effect" in one && one.effect === "noop")).toHaveLength(7);
    expect(service.arrivals).toHaveLength(1);
  });

  test("each gets a body of its own of a Response", async () => {
    const { service, hf, pass, track } = await openWorld();
    const post = hf.tool({
      name: "post",
      kind: "write",
      run: (args: { item: string }) =>
        track(
          fetch(`${service.url}/neither/effects`, { method: "POST", body: JSON.stringify(args) }),
        ),
    });
    const both = [post({ item: "tea" }, ONCE), post({ item: "tea" }, ONCE)];
    const [one, two] = await pass(Promise.all(both));
    expect(await one?.json()).toEqual(await two?.json());
    expect(service.arrivals).toHaveLength(1);
  });

  test("the words of a waiting caller are compared with those of the first attempt, not of who it joins", async () => {
    const { order, pass } = await openWorld();
    const mail = order("neither");
    await pass(mail.outcome({ item: "tea", note: "a" }, ONCE));
    const both = [
      mail.outcome({ item: "tea", note: "b" }, ONCE),
      mail.outcome({ item: "tea", note: "a" }, ONCE),
    ];
    const [first, second] = await pass(Promise.all(both));
    expect(first).toMatchObject({ status: "committed", reworded: ["note"], replayed: true });
    expect(second).toMatchObject({ status: "committed", replayed: true });
    expect(second?.reworded).toBeUndefined();
  });

  test("other words of a waiting caller are named, and not sent", async () => {
    const { service, order, pass } = await openWorld();
    const mail = order("neither");
    const both = [
      mail.outcome({ item: "tea", note: "a" }, ONCE),
      mail.outcome({ item: "tea", note: "b" }, ONCE),
    ];
    const [, second] = await pass(Promise.all(both));
    expect(second).toMatchObject({ status: "committed", reworded: ["note"], replayed: true });
    expect(service.arrivals).toMatchObject([{ intent: { note: "a" } }]);
  });

  test("an error before the send reaches all of them", async () => {
    const { order, pass } = await openWorld();
    const broken = order("conditional", { precondition: () => Number.NaN });
    const calls = [broken(TEA, ONCE), broken(TEA, ONCE)];
    const ended = await pass(Promise.allSettled(calls));
    expect(ended).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  });
});

describe("two processes on one store", () => {
  test("one fires, the other waits for it through the ledger", async () => {
    const { service, order, pass, another } = await openWorld();
    const other = another();
    const calls = [
      order("neither").outcome(TEA, ONCE),
      order("neither", {}, other).outcome(TEA, ONCE),
    ];
    const [first, second] = await pass(Promise.all(calls));
    expect(first).toMatchObject({ status: "committed", replayed: false });
    expect(second).toMatchObject({ status: "committed", replayed: true, effect: "noop" });
    expect(service.arrivals).toHaveLength(1);
  });

  test("twelve at once are one effect", async () => {
    const { service, order, pass, another } = await openWorld();
    const tools = Array.from({ length: 12 }, () => order("keyed", {}, another()));
    const outcomes = await pass(Promise.all(tools.map((tool) => tool.outcome(TEA, ONCE))));
    expect(outcomes.every(({ status }) => status === "committed")).toBe(true);
    expect(service.arrivals).toHaveLength(1);
  });

  test("one that waits past its deadline is told that it is in progress", async () => {
    const { order, pass, another, clock } = await openWorld();
    const plane = hangar();
    const first = order("neither", { run: plane.run, attemptTimeoutMs: 50_000 }).outcome(TEA, ONCE);
    await clock.settle();
    const other = order("neither", {}, another());
    const second = await pass(other.outcome(TEA, { ...ONCE, deadlineMs: 5_000 }));
    expect(second).toMatchObject({ status: "in_progress" });
    plane.land();
    expect(await pass(first)).toMatchObject({ status: "committed" });
  });

  test("one that aborts while it waits leaves at once, and the owner does not notice", async () => {
    const { order, pass, another, clock } = await openWorld();
    const plane = hangar();
    const first = order("neither", { run: plane.run }).outcome(TEA, ONCE);
    await clock.settle();
    const stop = new AbortController();
    const other = order("neither", {}, another());
    const second = other.outcome(TEA, { ...ONCE, signal: stop.signal });
    await clock.settle();
    stop.abort();
    expect(await pass(second)).toMatchObject({ status: "in_progress" });
    plane.land();
    expect(await pass(first)).toMatchObject({ status: "committed" });
    expect(plane.runs()).toBe(1);
  });

  test("the waiting one is given what was found out, whatever it is", async () => {
    const { service, order, pass, another } = await openWorld();
    service.plan(faults.status({ status: 404 }));
    const calls = [
      order("neither").outcome(TEA, ONCE),
      order("neither", {}, another()).outcome(TEA, ONCE),
    ];
    const [, second] = await pass(Promise.all(calls));
    expect(second).toMatchObject({ status: "not_applied", reason: "rejected", replayed: true });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("one that comes just after the last one has left", () => {
  test("waits for the other process in a time of its own", async () => {
    const { order, pass, another, clock } = await openWorld();
    const plane = hangar();
    const first = order("neither", { run: plane.run }).outcome(TEA, ONCE);
    await clock.settle();
    const stop = new AbortController();
    const other = order("neither", {}, another());
    const left = other.outcome(TEA, { ...ONCE, signal: stop.signal });
    await clock.settle();
    stop.abort();
    const came = other.outcome(TEA, ONCE);
    expect(await pass(left)).toMatchObject({ status: "in_progress" });
    plane.land();
    expect(await pass(first)).toMatchObject({ status: "committed" });
    expect(await pass(came)).toMatchObject({ status: "committed", replayed: true });
    expect(plane.runs()).toBe(1);
  });

  test("is asked about anew, and goes by the answer", async () => {
    const answers: ((answer: { approve: boolean; by: string }) => void)[] = [];
    const confirm = () =>
      new Promise<{ approve: boolean; by: string }>((resolve) => answers.push(resolve));
    const { service, order, pass, clock } = await openWorld({ hf: { confirm } });
    const wipe = order("neither", { kind: "destructive" });
    const stop = new AbortController();
    const left = wipe.outcome(TEA, { ...ONCE, signal: stop.signal });
    await until(() => answers.length === 1);
    stop.abort();
    const came = wipe.outcome(TEA, ONCE);
    expect(await pass(left)).toMatchObject({ status: "held", reason: "approval" });
    await until(() => answers.length === 2);
    for (const answer of answers) answer({ approve: true, by: "ana" });
    await clock.settle();
    expect(await pass(came)).toMatchObject({ status: "committed" });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("one that leaves", () => {
  test("is told that it may still land; the others go on", async () => {
    const { order, pass, clock } = await openWorld();
    const plane = hangar();
    const mail = order("neither", { run: plane.run });
    const stop = new AbortController();
    const left = mail.outcome(TEA, { ...ONCE, signal: stop.signal });
    const stays = mail.outcome(TEA, ONCE);
    await clock.settle();
    stop.abort();
    expect(await pass(left)).toMatchObject({ status: "in_progress" });
    plane.land();
    expect(await pass(stays)).toMatchObject({ status: "committed" });
    expect(plane.runs()).toBe(1);
  });

  test("as a plain call gets OperationInProgressError", async () => {
    const { order, pass, clock } = await openWorld();
    const plane = hangar();
    const mail = order("neither", { run: plane.run });
    const stop = new AbortController();
    const left = mail(TEA, { ...ONCE, signal: stop.signal });
    const stays = mail(TEA, ONCE);
    await clock.settle();
    stop.abort();
    await expect(pass(left)).rejects.toBeInstanceOf(OperationInProgressError);
    plane.land();
    await pass(stays);
  });

  test("by its own deadline leaves alone: the flight's deadline is the latest of its callers'", async () => {
    const { order, pass, clock } = await openWorld();
    const plane = hangar();
    const mail = order("neither", { run: plane.run, attemptTimeoutMs: 40_000 });
    const short = mail.outcome(TEA, { ...ONCE, deadlineMs: 1_000 });
    const long = mail.outcome(TEA, { ...ONCE, deadlineMs: 60_000 });
    expect(await pass(short)).toMatchObject({ status: "in_progress" });
    expect(clock.monotonic()).toBe(1_000);
    plane.land();
    expect(await pass(long)).toMatchObject({ status: "committed" });
  });

  test("last stops further attempts, and what was sent is still read", async () => {
    const { service, order, pass, arrived, heard, hf } = await openWorld();
    service.plan(faults.blackHole({ commit: true }));
    const stop = new AbortController();
    const both = order("keyed_readable");
    const left = both.outcome(TEA, { ...ONCE, signal: stop.signal });
    await arrived(1);
    stop.abort();
    const { id } = await pass(left);
    await until(() => heard("outcome").length > 0);
    expect(await hf.operations.get(id)).toMatchObject({ status: "committed" });
    expect(service.arrivals).toHaveLength(1);
  });

  test("last, of a keyed tool, fires nothing more: unknown, reason stopped", async () => {
    const { service, order, pass, arrived, heard } = await openWorld();
    service.plan(faults.blackHole({ commit: false }));
    const stop = new AbortController();
    const keyed = order("keyed");
    const left = keyed.outcome(TEA, { ...ONCE, signal: stop.signal });
    await arrived(1);
    stop.abort();
    await pass(left);
    await until(() => heard("outcome").length > 0);
    expect(heard("outcome", "unknown")).toMatchObject([{ reason: "stopped" }]);
    expect(service.arrivals).toHaveLength(1);
    const again = await pass(keyed.outcome(TEA, ONCE));
    expect(again).toMatchObject({ status: "committed", attempts: 2 });
    expect(new Set(keysOf(service)).size).toBe(1);
  });

  test("while an operation that was fired before is only read is told that it may still land", async () => {
    const { service, order, pass, clock } = await openWorld();
    service.plan(faults.commitThenReset());
    let hangs = false;
    const readable = order("readable", {
      readState: () => (hangs ? new Promise(() => {}) : { reading: "cannot_tell", why: "down" }),
    });
    expect(await pass(readable.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
    hangs = true;
    const stop = new AbortController();
    const call = readable.outcome(TEA, { ...ONCE, signal: stop.signal });
    await clock.settle();
    stop.abort();
    await clock.settle();
    const left = await Promise.race([call, Promise.resolve("still waiting")]);
    expect(left).toMatchObject({ status: "in_progress" });
    expect(service.arrivals).toHaveLength(1);
  });

  test("and one that comes while the execution winds down waits for its end, then looks afresh", async () => {
    const { order, pass, clock } = await openWorld();
    const plane = hangar();
    const keyed = order("keyed", {
      run: (args, { key, attempt }) => {
        expect(key).toBeTypeOf("string");
        return attempt === 1 ? plane.run() : Promise.resolve({ id: args.item } as EffectBody);
      },
    });
    const stop = new AbortController();
    const left = keyed.outcome(TEA, { ...ONCE, signal: stop.signal });
    await clock.settle();
    stop.abort();
    await pass(left);
    const comes = keyed.outcome(TEA, ONCE);
    expect(await pass(comes)).toMatchObject({ status: "committed", attempts: 2 });
    expect(plane.runs()).toBe(1);
  });
});

describe("an abort", () => {
  test("before the call sends nothing and leaves nothing", async () => {
    const { service, order, pass, hf } = await openWorld();
    const signal = AbortSignal.abort();
    const outcome = await pass(order("neither").outcome(TEA, { ...ONCE, signal }));
    expect(outcome).toMatchObject({ status: "not_applied", reason: "aborted", attempts: 0 });
    expect((await hf.operations.list()).items).toEqual([]);
    expect(service.arrivals).toHaveLength(0);
  });

  test("between claim and send withdraws the claim and leaves nothing to replay", async () => {
    const { service, order, pass, hf, store } = await openWorld();
    const stop = new AbortController();
    const { swap } = store;
    Object.assign(store, {
      swap: async (change: Parameters<typeof swap>[0]) => {
        const swapped = await swap(change);
        stop.abort();
        return swapped;
      },
    });
    const mail = order("neither");
    const outcome = await pass(mail.outcome(TEA, { ...ONCE, signal: stop.signal }));
    expect(outcome).toMatchObject({ status: "not_applied", reason: "aborted", recorded: true });
    expect((await hf.operations.list()).items).toEqual([]);
    expect(service.arrivals).toHaveLength(0);
    const again = await pass(mail.outcome(TEA, ONCE));
    expect(again).toMatchObject({ status: "committed", replayed: false, attempts: 1 });
  });

  test("between two attempts keeps what is certain", async () => {
    const { service, order, clock, hf, heard } = await openWorld();
    service.always(faults.status({ status: 429 }));
    const stop = new AbortController();
    const mail = order("neither", { refuses: [429] });
    const call = mail.outcome(TEA, { ...ONCE, signal: stop.signal });
    await until(() => heard("verdict").length === 1);
    stop.abort();
    const left = await call;
    await clock.advance(10_000);
    expect(await hf.operations.get(left.id)).toMatchObject({
      status: "not_applied",
      reason: "refused",
    });
    expect(service.arrivals).toHaveLength(1);
  });

  test("after the reply changes nothing", async () => {
    const { order, pass } = await openWorld();
    const stop = new AbortController();
    const mail = order("neither");
    const outcome = await pass(mail.outcome(TEA, { ...ONCE, signal: stop.signal }));
    stop.abort();
    expect(outcome).toMatchObject({ status: "committed" });
    expect(await pass(mail.outcome(TEA, ONCE))).toMatchObject({ replayed: true });
  });
});
