import { describe, expect, test } from "vitest";
import { NotAppliedError } from "../../src/errors.ts";
import { readFaults } from "../../src/testing/faulty-service.ts";
import { openWorld, type World } from "./world.ts";

const ANY = { item: "tea" };

/** A read tool whose run returns what `find` found. */
const finder = ({ hf, client }: World) =>
  hf.tool({
    name: "find",
    kind: "read",
    run: (query: { item: string }, { signal }) => client("readable").find(query, { signal }),
  });

/** A read tool whose run returns the Response itself. */
const fetcher = ({ hf, service, track }: World) =>
  hf.tool({
    name: "fetch",
    kind: "read",
    run: ({ item }: { item: string }) =>
      track(fetch(`${service.url}/readable/effects?item=${item}`)),
  });

describe("a read is retried freely", () => {
  test("needs no scope and leaves nothing in the ledger", async () => {
    const world = await openWorld();
    const outcome = await world.pass(finder(world).outcome(ANY));
    expect(outcome).toMatchObject({ status: "committed", result: [], attempts: 1 });
    expect((await world.hf.operations.list()).items).toEqual([]);
  });

  test.each([
    ["a 503", readFaults.status()],
    ["a 500", readFaults.status({ status: 500 })],
    ["a 429", readFaults.status({ status: 429 })],
    ["a 408", readFaults.status({ status: 408 })],
    ["a reset", readFaults.reset()],
  ])("after %s it is asked again, four times in all", async (_, fault) => {
    const world = await openWorld();
    const { service, pass } = world;
    service.planRead(fault, fault, fault);
    expect(await pass(finder(world).outcome(ANY))).toMatchObject({
      status: "committed",
      attempts: 4,
      wireRequests: 4,
    });
    service.planRead(fault, fault, fault, fault);
    expect(await pass(finder(world).outcome(ANY))).toMatchObject({
      status: "not_applied",
      attempts: 4,
    });
    expect(service.reads).toHaveLength(8);
  });

  test("a clear no is final", async () => {
    const world = await openWorld();
    const { service, pass } = world;
    service.planRead(readFaults.status({ status: 404 }));
    const outcome = await pass(finder(world).outcome(ANY));
    expect(outcome).toMatchObject({
      status: "not_applied",
      reason: "rejected",
      rejection: { status: 404 },
      attempts: 1,
    });
    service.planRead(readFaults.status({ status: 404 }));
    await expect(pass(finder(world)(ANY))).rejects.toBeInstanceOf(NotAppliedError);
  });

  test("one that hangs is given up after its time, and asked again", async () => {
    const world = await openWorld();
    const { hf, pass, clock } = world;
    const signals: AbortSignal[] = [];
    const slow = hf.tool({
      name: "slow",
      kind: "read",
      attemptTimeoutMs: 10_000,
      run: (_: typeof ANY, { attempt, signal }) => {
        signals.push(signal);
        return attempt < 3 ? new Promise<number>(() => {}) : Promise.resolve(7);
      },
    });
    expect(await pass(slow(ANY))).toBe(7);
    expect(signals.slice(0, 2).every(({ aborted }) => aborted)).toBe(true);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(20_000);
  });

  test("two equal reads are two reads", async () => {
    const world = await openWorld();
    const find = finder(world);
    await world.pass(Promise.all([find(ANY), find(ANY)]));
    expect(world.service.reads).toHaveLength(2);
  });

  test("`attempts` of the tool counts", async () => {
    const { hf, pass } = await openWorld();
    let runs = 0;
    const broken = hf.tool({
      name: "broken",
      kind: "read",
      attempts: 2,
      run: async (_: typeof ANY): Promise<number> => {
        runs += 1;
        throw new TypeError("boom");
      },
    });
    expect(await pass(broken.outcome(ANY))).toMatchObject({ status: "not_applied", attempts: 2 });
    expect(runs).toBe(2);
  });
});

describe("a read that returns a Response", () => {
  test("is asked again while it says not now", async () => {
    const world = await openWorld();
    const { service, pass } = world;
    service.planRead(readFaults.status(), readFaults.status({ status: 429 }));
    const response = await pass(fetcher(world)(ANY));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual([]);
    expect(service.reads).toHaveLength(3);
  });

  test("gives a clear no to the caller, to read for itself", async () => {
    const world = await openWorld();
    world.service.planRead(readFaults.status({ status: 404, body: { error: "gone" } }));
    const response = await world.pass(fetcher(world)(ANY));
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: "gone" });
  });

  test("gives the last answer when it has had enough", async () => {
    const world = await openWorld();
    world.service.alwaysRead(readFaults.status());
    const response = await world.pass(fetcher(world)(ANY));
    expect(response.status).toBe(503);
    expect(world.service.reads).toHaveLength(4);
  });
});

describe("an abort of a read", () => {
  test("before it starts asks nothing", async () => {
    const world = await openWorld();
    const signal = AbortSignal.abort();
    const outcome = await world.pass(finder(world).outcome(ANY, { signal }));
    expect(outcome).toMatchObject({ status: "not_applied", reason: "aborted", attempts: 0 });
    expect(world.service.reads).toHaveLength(0);
  });

  test("while it is under way reaches the run, and asks no more", async () => {
    const { hf, pass, clock } = await openWorld();
    const stop = new AbortController();
    let runs = 0;
    const slow = hf.tool({
      name: "slow",
      kind: "read",
      run: (_: typeof ANY, { signal }) => {
        runs += 1;
        return new Promise<number>((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      },
    });
    const call = slow.outcome(ANY, { signal: stop.signal });
    await clock.settle();
    stop.abort();
    expect(await pass(call)).toMatchObject({ status: "not_applied", reason: "aborted" });
    expect(runs).toBe(1);
  });
});
