import { describe, expect, test } from "vitest";
import { faults } from "../../src/testing/faulty-service.ts";
import { failingStore } from "../engine/failing-store.ts";
import { openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

describe("deadlines beat everything", () => {
  test("no attempt is started that could not begin before the deadline", async () => {
    const { service, order, pass, clock } = await openWorld();
    service.always(faults.resetBefore());
    const keyed = order("keyed", { attempts: 100 });
    const outcome = await pass(keyed.outcome(TEA, { ...ONCE, deadlineMs: 2_000 }));
    expect(outcome).toMatchObject({ status: "unknown", reason: "deadline" });
    expect(clock.monotonic()).toBeLessThanOrEqual(2_000);
    expect(service.arrivals.length).toBeLessThan(100);
  });

  test("Retry-After does not outlast it: certain is told as certain, doubt as doubt", async () => {
    const headers = { "retry-after": "120" };
    const { service, order, pass } = await openWorld();
    service.always(faults.status({ status: 429, headers }));
    const refused = await pass(order("neither", { refuses: [429] }).outcome(TEA, ONCE));
    expect(refused).toMatchObject({ status: "not_applied", reason: "refused", attempts: 1 });
    const doubtful = await pass(order("keyed").outcome(TEA, ONCE));
    expect(doubtful).toMatchObject({ status: "unknown", reason: "deadline", attempts: 1 });
    expect(service.arrivals).toHaveLength(2);
  });

  test("an attempt gets what is left, at most its own timeout", async () => {
    const { order, pass, clock } = await openWorld();
    const hung = order("neither", { run: () => new Promise(() => {}) });
    const outcome = await pass(hung.outcome(TEA, { ...ONCE, deadlineMs: 3_000 }));
    expect(outcome).toMatchObject({ status: "in_progress", reason: "still_running" });
    expect(clock.monotonic()).toBe(3_000);
  });

  test("a precondition that hangs ends with the deadline, and nothing was sent", async () => {
    const { service, order, pass, clock } = await openWorld();
    const hung = order("conditional", { precondition: () => new Promise<never>(() => {}) });
    const ended = hung.outcome(TEA, ONCE).catch((error: unknown) => error);
    await pass(Promise.race([ended, clock.advance(61_000)]));
    const result = await Promise.race([ended, Promise.resolve("still waiting")]);
    expect(result).toMatchObject({ status: "not_applied", reason: "not_sent", attempts: 0 });
    expect(service.arrivals).toHaveLength(0);
  });

  test("a precondition that throws ends the call before anything is sent or claimed", async () => {
    const { service, order, pass, hf } = await openWorld();
    const error = new Error("down");
    const broken = order("conditional", { precondition: () => Promise.reject(error) });
    const ended = await pass(broken.outcome(TEA, ONCE));
    expect(ended).toMatchObject({ status: "not_applied", reason: "not_sent", attempts: 0, error });
    expect((await hf.operations.list()).items).toEqual([]);
    expect(service.arrivals).toHaveLength(0);
  });

  test("a caller that leaves while the precondition is read has sent nothing", async () => {
    const { service, order, pass, hf, heard } = await openWorld();
    const stop = new AbortController();
    const hung = order("conditional", {
      precondition: () => {
        stop.abort();
        return new Promise<never>(() => {});
      },
    });
    const ended = await pass(hung.outcome(TEA, { ...ONCE, signal: stop.signal }));
    expect(ended).toMatchObject({ status: "not_applied", reason: "aborted", attempts: 0 });
    expect((await hf.operations.list()).items).toEqual([]);
    expect(service.arrivals).toHaveLength(0);
    // It was not the reader that failed.
    expect(heard("warning")).toEqual([]);
  });

  test("a look that took all the time leaves none to send in", async () => {
    const { service, order, pass, hf } = await openWorld();
    const slow = order("readable", { readFirst: true, readState: () => new Promise(() => {}) });
    const outcome = await pass(slow.outcome(TEA, { ...ONCE, deadlineMs: 1_000 }));
    expect(outcome).toMatchObject({ status: "not_applied", attempts: 0 });
    expect(service.arrivals).toHaveLength(0);
    // Nothing is left to replay: the next call fires at once.
    expect((await hf.operations.list()).items).toEqual([]);
  });

  test("a store that took all the time leaves none to send in", async () => {
    const { service, order, pass, clock, store } = await openWorld({
      store: (now) => failingStore({ now, forgets: "accepted" }),
    });
    const failing = store as ReturnType<typeof failingStore>;
    failing.fail("hangs", (step) => step === "swap:claimed");
    const call = order("neither").outcome(TEA, { ...ONCE, deadlineMs: 1_000 });
    const ended = call.catch((error: unknown) => error);
    await clock.advance(2_000);
    failing.recover();
    const outcome = await pass(ended);
    expect(outcome).not.toMatchObject({ status: "unknown" });
    expect(outcome).not.toMatchObject({ status: "committed" });
    expect(service.arrivals).toHaveLength(0);
  });

  test("a read tool ends by it too", async () => {
    const { hf, pass, clock } = await openWorld();
    const read = hf.tool({
      name: "read",
      kind: "read",
      run: (_: { item: string }) => new Promise<number>(() => {}),
    });
    const outcome = await pass(read.outcome({ item: "tea" }, { deadlineMs: 15_000 }));
    expect(outcome).toMatchObject({ status: "not_applied" });
    expect(clock.monotonic()).toBeLessThanOrEqual(15_000);
  });
});

describe("the store is down before the claim, and the deadline is shorter than its time", () => {
  test.each(["open", "swap:claimed"])("at %s the call ends by its deadline", async (step) => {
    const failing = failingStore({ forgets: "accepted" });
    const { service, order, clock } = await openWorld({ store: () => failing });
    failing.fail("hangs", (asked) => asked === step);
    const call = order("neither").outcome(TEA, { ...ONCE, deadlineMs: 3_000 });
    const ended = call.catch((error: unknown) => error);
    await clock.advance(3_000);
    const told = await Promise.race([ended, Promise.resolve("still waiting")]);
    expect(told).toMatchObject({ code: "ERR_HOLDFIRE_STORE_UNAVAILABLE" });
    failing.recover();
    expect(service.arrivals).toHaveLength(0);
  });
});
