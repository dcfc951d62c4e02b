import { describe, expect, test } from "vitest";
import { notApplied } from "../../src/index.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { until } from "../engine/virtual-clock.ts";
import { keysOf, type OrderOptions, openWorld, TEA, type World } from "./world.ts";

const ONCE = { scope: "s" };

/** A client that does not listen to the signal: its answer comes when it comes. */
const deaf = (world: World, toolClass: "keyed" | "readable" | "neither"): OrderOptions => ({
  run: (args, { key }) => world.service.client(toolClass).create(args, { key }),
});

describe("black hole", () => {
  test("committed: a readable tool reads when the attempt's time is up", async () => {
    const { service, order, arrived, clock, pass } = await openWorld();
    service.plan(faults.blackHole({ commit: true }));
    const call = order("readable").outcome(TEA, ONCE);
    await arrived(1);
    await clock.advance(10_000);
    expect(await pass(call)).toMatchObject({ status: "committed", attempts: 1, wireRequests: 1 });
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toHaveLength(1);
  });

  test("committed: a keyed tool sends the same key again", async () => {
    const { service, order, arrived, clock, pass } = await openWorld();
    service.plan(faults.blackHole({ commit: true }));
    const call = order("keyed").outcome(TEA, ONCE);
    await arrived(1);
    await clock.advance(10_125);
    const outcome = await pass(call);
    expect(outcome).toMatchObject({ status: "committed", attempts: 2, wireRequests: 2 });
    expect(keysOf(service)).toEqual([outcome.key, outcome.key]);
    expect(service.effects).toHaveLength(1);
  });

  test("committed or not, a tool that is neither waits until the deadline and never sends again", async () => {
    for (const commit of [true, false]) {
      const { service, order, arrived, clock, pass, heard } = await openWorld();
      service.plan(faults.blackHole({ commit }));
      const mail = order("neither");
      const call = mail.outcome(TEA, ONCE);
      await arrived(1);
      await clock.advance(60_000);
      expect(await call).toMatchObject({ status: "in_progress", reason: "still_running" });
      // It was given up at the deadline, and its request has ended without an answer.
      await until(() => heard("late").length > 0);
      await clock.settle();
      const again = await pass(mail.outcome(TEA, ONCE));
      expect(again).toMatchObject({ status: "unknown", reason: "lost_reply" });
      expect(service.arrivals).toHaveLength(1);
    }
  });

  test.each([
    [
      "an answer that proves nothing",
      Object.assign(new Error("no"), { status: 500 }),
      { status: "unknown", reason: "unclear_answer", answered: 500 },
    ],
    ["a no", notApplied("declined"), { status: "not_applied", reason: "rejected" }],
  ])("%s that comes after the deadline is what the next call is told", async (_, error, told) => {
    const { order, clock, pass, heard } = await openWorld();
    let fail = () => {};
    let runs = 0;
    const mail = order("neither", {
      run: () =>
        new Promise((__, reject) => {
          runs += 1;
          fail = () => reject(error);
        }),
    });
    const call = mail.outcome(TEA, ONCE);
    await clock.settle();
    await clock.advance(60_000);
    expect(await call).toMatchObject({ status: "in_progress", reason: "still_running" });
    fail();
    await until(() => heard("late").length > 0);
    await clock.settle();
    expect(await pass(mail.outcome(TEA, ONCE))).toMatchObject(told);
    expect(runs).toBe(1);
  });

  test("not committed: a readable tool waits for it, and fires again only after its end and its window", async () => {
    const { service, order, arrived, clock, pass, heard } = await openWorld();
    service.plan(faults.blackHole({ commit: false }));
    const readable = order("readable", { commitsWithinMs: 2_000 });
    const call = readable.outcome(TEA, ONCE);
    await arrived(1);
    await clock.advance(60_000);
    expect(await call).toMatchObject({ status: "in_progress", reason: "still_running" });
    await until(() => heard("late").length > 0);
    const again = await pass(readable.outcome(TEA, ONCE));
    expect(again).toMatchObject({ status: "committed", attempts: 2, licence: "absent" });
    expect(service.effects).toHaveLength(1);
  });

  test("the run is told to stop at the deadline, not when its time is up: slow is not lost", async () => {
    const { service, order, arrived, clock } = await openWorld();
    service.plan(faults.blackHole({ commit: false }));
    let signal: AbortSignal | undefined;
    const mail = order("neither", {
      run: (args, context) => {
        ({ signal } = context);
        return service.client("neither").create(args, { signal: context.signal });
      },
    });
    const call = mail.outcome(TEA, ONCE);
    await arrived(1);
    expect(signal?.aborted).toBe(false);
    await clock.advance(59_999);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(signal?.aborted).toBe(true);
    expect(await call).toMatchObject({ status: "in_progress" });
  });
});

describe("a reply that comes after its time, while the execution still waits", () => {
  test("ends the wait for a reading as the commit it is", async () => {
    const world = await openWorld();
    const { service, order, arrived, clock, pass, heard } = world;
    service.plan(faults.slow({ ms: 20_000, commit: "after" }));
    const readable = order("readable", { ...deaf(world, "readable"), commitsWithinMs: 30_000 });
    const call = readable.outcome(TEA, ONCE);
    await arrived(1);
    await clock.advance(10_000);
    expect(service.effects).toHaveLength(0);
    await clock.advance(10_000);
    await until(() => heard("late").length > 0);
    expect(await pass(call)).toMatchObject({ status: "committed", attempts: 1 });
    expect(heard("verdict")).toMatchObject([{ attempt: 1, verdict: "unknown", timedOut: true }]);
    expect(heard("late")).toMatchObject([
      { attempt: 1, verdict: "committed", wireRequests: 1, durationMs: 20_000 },
    ]);
    expect(service.effects).toHaveLength(1);
    expect(service.arrivals).toHaveLength(1);
  });

  test("a reply that lands in the pause before a resend stops it", async () => {
    const world = await openWorld();
    const { service, order, arrived, clock, pass, heard } = world;
    service.plan(faults.slow({ ms: 10_050, commit: "before" }));
    const call = order("keyed", deaf(world, "keyed")).outcome(TEA, ONCE);
    await arrived(1);
    await clock.advance(10_050);
    await until(() => heard("late").length > 0);
    expect(await pass(call)).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toHaveLength(1);
  });

  test("a no that lands in the pause before a resend stops it too", async () => {
    const { order, clock, pass } = await openWorld();
    const landings: ((error: unknown) => void)[] = [];
    const keyed = order("keyed", {
      classify: () => "rejected",
      run: (_, { key }) =>
        new Promise((_resolve, reject) => {
          expect(key).toBeTypeOf("string");
          landings.push(reject);
        }),
    });
    const call = keyed.outcome(TEA, ONCE);
    await clock.advance(10_050);
    landings[0]?.(new Error("declined"));
    expect(await pass(call)).toMatchObject({ status: "not_applied", reason: "rejected" });
    expect(landings).toHaveLength(1);
  });

  test("while the key is in use a resend is answered 409, which proves nothing", async () => {
    const world = await openWorld();
    const { service, order, arrived, clock, pass, heard } = world;
    service.plan(faults.slow({ ms: 10_200, commit: "after" }));
    const call = order("keyed", deaf(world, "keyed")).outcome(TEA, ONCE);
    await arrived(1);
    await clock.advance(10_125);
    await arrived(2);
    await until(() => heard("verdict").some(({ status }) => status === 409));
    await clock.advance(75);
    await until(() => heard("late").length > 0);
    expect(await pass(call)).toMatchObject({ status: "committed", attempts: 2 });
    expect(new Set(keysOf(service)).size).toBe(1);
    expect(service.effects).toHaveLength(1);
  });

  test("a late no decides like any other", async () => {
    const world = await openWorld();
    const { service, order, clock, pass, heard } = world;
    let reject: (error: unknown) => void = () => {};
    const readable = order("readable", {
      classify: () => "rejected",
      commitsWithinMs: 30_000,
      run: () =>
        new Promise((_, no) => {
          reject = no;
        }),
    });
    const call = readable.outcome(TEA, ONCE);
    await clock.advance(12_000);
    reject(new Error("declined"));
    expect(await pass(call)).toMatchObject({ status: "not_applied", reason: "rejected" });
    expect(heard("late")).toMatchObject([{ verdict: "rejected" }]);
    expect(service.arrivals).toHaveLength(0);
  });
});

describe("a reply that comes when the execution has ended", () => {
  test("turns unknown into committed, and the next call is given its result", async () => {
    const world = await openWorld();
    const { service, order, arrived, clock, pass, heard, hf } = world;
    service.plan(faults.slow({ ms: 70_000, commit: "before" }));
    const mail = order("neither", deaf(world, "neither"));
    const call = mail.outcome(TEA, ONCE);
    await arrived(1);
    await clock.advance(60_000);
    const { status, id } = await call;
    expect(status).toBe("in_progress");
    expect(await hf.operations.get(id)).toMatchObject({ status: "unknown" });
    await clock.advance(10_000);
    await until(() => heard("late").length > 0);
    await clock.settle();
    const view = await hf.operations.get(id);
    expect(view).toMatchObject({ status: "committed", open: false });
    expect(view?.evidence).toMatchObject([{ attempt: 1, verdict: "committed" }]);
    const again = await pass(mail.outcome(TEA, ONCE));
    expect(again).toMatchObject({
      status: "committed",
      replayed: true,
      result: { id: service.effects[0]?.effectId },
    });
    expect(service.arrivals).toHaveLength(1);
  });

  test("turns even not_applied into committed", async () => {
    const { service, order, clock, pass, heard, hf } = await openWorld();
    let land: (effect: never) => void = () => {};
    const mail = order("neither", {
      run: () =>
        new Promise((resolve) => {
          land = resolve;
        }),
    });
    const call = mail.outcome(TEA, ONCE);
    await clock.advance(10_000);
    const { id } = await pass(call);
    await clock.advance(60_000);
    await hf.operations.resolve(id, { as: "not_applied", by: "ana", anyway: true });
    land({ id: "ef_1" } as never);
    await until(() => heard("late").length > 0);
    await clock.settle();
    expect(await hf.operations.get(id)).toMatchObject({ status: "committed" });
    const again = await pass(mail.outcome(TEA, ONCE));
    expect(again).toMatchObject({ status: "committed", replayed: true, result: { id: "ef_1" } });
    expect(service.arrivals).toHaveLength(0);
  });

  test("a late failure is filed too, and the operation stays unknown", async () => {
    const { order, clock, pass, hf, heard } = await openWorld();
    let fail: (error: unknown) => void = () => {};
    const mail = order("neither", {
      run: () =>
        new Promise((_, reject) => {
          fail = reject;
        }),
    });
    const call = mail.outcome(TEA, ONCE);
    await clock.advance(10_000);
    const { id } = await pass(call);
    fail(new Error("socket hang up"));
    await clock.settle();
    const view = await hf.operations.get(id);
    expect(view).toMatchObject({ status: "unknown" });
    expect(view?.evidence).toMatchObject([{ attempt: 1, verdict: "unknown" }]);
    expect(heard("verdict")).toHaveLength(1);
    expect(heard("late")).toMatchObject([{ attempt: 1, verdict: "unknown", wireRequests: 0 }]);
  });

  test("raises the alarm when a licensed resend committed too", async () => {
    const world = await openWorld();
    const { service, order, pass, clock, heard, hf } = world;
    let land: (effect: never) => void = () => {};
    const options: OrderOptions = { commitsWithinMs: 1_000, effect: { id: ({ id }) => id } };
    const hung = order("readable", {
      ...options,
      attemptTimeoutMs: 50_000,
      run: () =>
        new Promise((resolve) => {
          land = resolve;
        }),
    });
    const first = hung.outcome(TEA, ONCE);
    await clock.settle();
    // Its process is paused past the lease, and another one takes it for dead.
    clock.jump(200_000);
    const second = await pass(order("readable", options, world.another()).outcome(TEA, ONCE));
    expect(second).toMatchObject({ status: "committed", licence: "absent", attempts: 2 });
    land({ id: "ef_of_the_first" } as never);
    await pass(first);
    await clock.advance(1_000);
    expect(heard("duplicate")).toMatchObject([{ source: "late" }]);
    const view = await hf.operations.get(second.id);
    expect(view).toMatchObject({ status: "committed", evidence: [{ verdict: "committed" }] });
    expect(service.effects).toHaveLength(1);
  });

  test("a run that goes on in a living process has not ended for any other either", async () => {
    const world = await openWorld();
    const { service, order, pass, clock } = world;
    const options: OrderOptions = { commitsWithinMs: 1_000 };
    const hung = order("readable", { ...options, run: () => new Promise(() => {}) });
    expect(await pass(hung.outcome(TEA, ONCE))).toMatchObject({ status: "in_progress" });
    await clock.advance(3_600_000);
    const other = order("readable", options, world.another());
    expect(await pass(other.outcome(TEA, ONCE))).toMatchObject({ status: "unknown", attempts: 1 });
    expect(service.arrivals).toHaveLength(0);
  });

  test("a run that goes on in this process has not ended: no absent licence before it has", async () => {
    const { service, order, clock, pass } = await openWorld();
    const readable = order("readable", {
      commitsWithinMs: 1_000,
      run: () => new Promise(() => {}),
    });
    const first = readable.outcome(TEA, ONCE);
    expect(await pass(first)).toMatchObject({ status: "in_progress", reason: "still_running" });
    await clock.advance(3_600_000);
    const second = await pass(readable.outcome(TEA, ONCE));
    expect(second).toMatchObject({ status: "unknown", reason: "deadline", attempts: 1 });
    expect(service.arrivals).toHaveLength(0);
  });
});
