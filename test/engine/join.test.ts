import { beforeEach, describe, expect, test } from "vitest";
import { type RunOperation, startOrJoin } from "../../src/engine/call/join.ts";
import type { Execution, Operation } from "../../src/engine/operation/operation.ts";
import type { Outcome } from "../../src/engine/operation/outcome.ts";
import { engineOf, operationOf, type TestEngine } from "./engine-of.ts";

let engine: TestEngine;
let operation: Operation;
let executions: Execution[];
let finish: (outcome: Outcome<unknown>) => void;
let crash: (error: unknown) => void;

/** Ends when the test says so. */
const run: RunOperation = (execution) => {
  executions.push(execution);
  return new Promise((resolve, reject) => {
    finish = resolve;
    crash = reject;
  });
};

const committed = (rest: object = {}): Outcome<unknown> => ({
  tool: "order",
  id: "id",
  key: "key",
  replayed: false,
  recorded: true,
  attempts: 1,
  at: 0,
  status: "committed",
  result: "made",
  effect: "created",
  ...rest,
});

const call = (deadlineMs = 60_000, signal?: AbortSignal, who = operation) =>
  startOrJoin(who, { signal, deadlineMs }, engine, run);

beforeEach(() => {
  engine = engineOf();
  operation = operationOf(engine);
  executions = [];
});

describe("one operation, one execution", () => {
  test("who comes second joins, and is told that it caused nothing", async () => {
    const both = Promise.all([call(), call()]);
    await engine.clock.settle();
    finish(committed());
    const [first, second] = await both;
    expect(first).toMatchObject({ replayed: false, effect: "created" });
    expect(second).toMatchObject({ replayed: true, effect: "noop", result: "made" });
    expect(executions).toHaveLength(1);
  });

  test("another operation runs on its own", async () => {
    void call();
    void call(60_000, undefined, operationOf(engine, {}, { item: "milk" }));
    await engine.clock.settle();
    expect(executions).toHaveLength(2);
    expect(engine.live.executions()).toHaveLength(2);
  });

  test("when it is done, the next call runs it again", async () => {
    const first = call();
    await engine.clock.settle();
    finish(committed());
    await first;
    await engine.clock.settle();
    expect(engine.live.executions()).toEqual([]);
    void call();
    await engine.clock.settle();
    expect(executions).toHaveLength(2);
  });

  test("a crash before the send reaches all of them, and clears the way", async () => {
    const both = Promise.allSettled([call(), call()]);
    await engine.clock.settle();
    crash(new Error("store down"));
    expect(await both).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
    await engine.clock.settle();
    expect(engine.live.executions()).toEqual([]);
  });

  test("another intent under the same name is a conflict, and does not join", async () => {
    const other = operationOf(engine, {}, { item: "milk" });
    const impostor = { ...other, ref: operation.ref };
    const first = call();
    await engine.clock.settle();
    expect(await call(60_000, undefined, impostor)).toMatchObject({ status: "conflict" });
    finish(committed());
    await first;
  });
});

describe("who leaves", () => {
  test("is told that it is in progress; the execution goes on for the others", async () => {
    const stop = new AbortController();
    const leaves = call(60_000, stop.signal);
    const stays = call();
    await engine.clock.settle();
    stop.abort();
    expect(await leaves).toMatchObject({ status: "in_progress" });
    expect(executions[0]?.stopped.aborted).toBe(false);
    finish(committed());
    expect(await stays).toMatchObject({ status: "committed" });
  });

  test("as the last one stops the execution", async () => {
    const stop = new AbortController();
    const leaves = call(60_000, stop.signal);
    await engine.clock.settle();
    const [execution] = executions;
    if (execution) execution.sent = true;
    stop.abort();
    expect(await leaves).toMatchObject({ status: "in_progress" });
    expect(execution?.stopped.aborted).toBe(true);
  });

  test("as the last one, with nothing sent, waits for its end: that is certain", async () => {
    const stop = new AbortController();
    const leaves = call(60_000, stop.signal);
    await engine.clock.settle();
    stop.abort();
    await engine.clock.settle();
    finish(committed({ status: "not_applied", reason: "aborted" }));
    expect(await leaves).toMatchObject({ status: "not_applied", reason: "aborted" });
  });

  test("by its deadline leaves only if another may stay longer", async () => {
    const short = call(1_000);
    const long = call(5_000);
    await engine.clock.advance(1_000);
    expect(await short).toMatchObject({ status: "in_progress" });
    expect(executions[0]?.remainingMs()).toBe(4_000);
    await engine.clock.advance(4_000);
    expect(executions[0]?.remainingMs()).toBe(0);
    finish(committed());
    expect(await long).toMatchObject({ status: "committed" });
  });

  test("leaves no timer and no listener behind", async () => {
    const stop = new AbortController();
    const called = call(1_000, stop.signal);
    await engine.clock.settle();
    finish(committed());
    await called;
    expect(engine.clock.pending()).toBe(0);
    stop.abort();
    expect(executions[0]?.stopped.aborted).toBe(false);
  });
});

describe("the deadline of an execution", () => {
  test("is the latest of its callers'", async () => {
    void call(1_000);
    await engine.clock.advance(500);
    void call(2_000);
    expect(executions[0]?.remainingMs()).toBe(2_000);
    void call(10);
    expect(executions[0]?.remainingMs()).toBe(2_000);
  });

  test("stands still while a person is asked", async () => {
    void call(1_000);
    await engine.clock.settle();
    const [execution] = executions;
    let answer: (value: string) => void = () => {};
    const asked = execution?.outsideDeadline(
      () =>
        new Promise<string>((resolve) => {
          answer = resolve;
        }),
    );
    await engine.clock.advance(100_000);
    expect(execution?.remainingMs()).toBe(Number.POSITIVE_INFINITY);
    answer("yes");
    expect(await asked).toEqual({ tag: "done", value: "yes" });
    expect(execution?.remainingMs()).toBe(1_000);
  });

  test("a user's code is not waited for when the last caller has left", async () => {
    const stop = new AbortController();
    void call(1_000, stop.signal);
    await engine.clock.settle();
    const waiting = executions[0]?.untilStopped(() => new Promise(() => {}));
    stop.abort();
    expect(await waiting).toEqual({ tag: "stopped" });
  });

  test("an error of a user's code passes through", async () => {
    void call();
    await engine.clock.settle();
    const failing = executions[0]?.untilStopped(() => Promise.reject(new Error("down")));
    await expect(failing).rejects.toThrow("down");
  });
});
