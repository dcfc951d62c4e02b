import { beforeEach, describe, expect, test } from "vitest";
import { board, type Execution, type Fly } from "../../src/engine/call/execution.ts";
import type { Operation } from "../../src/engine/call/operation.ts";
import type { Outcome } from "../../src/engine/outcome/outcome.ts";
import { engineOf, operationOf, type TestEngine } from "./engine-of.ts";

let engine: TestEngine;
let operation: Operation;
let executions: Execution[];
let land: (outcome: Outcome<unknown>) => void;
let crash: (error: unknown) => void;

/** A flight that lands when the test says so. */
const fly: Fly = (execution) => {
  executions.push(execution);
  return new Promise((resolve, reject) => {
    land = resolve;
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

const aboard = (deadlineMs = 60_000, signal?: AbortSignal, who = operation) =>
  board(who, { signal, deadlineMs }, engine, fly);

beforeEach(() => {
  engine = engineOf();
  operation = operationOf(engine);
  executions = [];
});

describe("one operation, one flight", () => {
  test("who comes second joins, and is told that it caused nothing", async () => {
    const both = Promise.all([aboard(), aboard()]);
    await engine.clock.settle();
    land(committed());
    const [first, second] = await both;
    expect(first).toMatchObject({ replayed: false, effect: "created" });
    expect(second).toMatchObject({ replayed: true, effect: "noop", result: "made" });
    expect(executions).toHaveLength(1);
  });

  test("another operation flies on its own", async () => {
    void aboard();
    void aboard(60_000, undefined, operationOf(engine, {}, { item: "milk" }));
    await engine.clock.settle();
    expect(executions).toHaveLength(2);
    expect(engine.executions.size).toBe(2);
  });

  test("when it has landed, the next call flies again", async () => {
    const first = aboard();
    await engine.clock.settle();
    land(committed());
    await first;
    await engine.clock.settle();
    expect(engine.executions.size).toBe(0);
    void aboard();
    await engine.clock.settle();
    expect(executions).toHaveLength(2);
  });

  test("a crash before the send reaches all of them, and clears the way", async () => {
    const both = Promise.allSettled([aboard(), aboard()]);
    await engine.clock.settle();
    crash(new Error("store down"));
    expect(await both).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
    await engine.clock.settle();
    expect(engine.executions.size).toBe(0);
  });

  test("another intent under the same name is a conflict, and does not board", async () => {
    const other = operationOf(engine, {}, { item: "milk" });
    const impostor = { ...other, ref: operation.ref };
    const first = aboard();
    await engine.clock.settle();
    expect(await aboard(60_000, undefined, impostor)).toMatchObject({ status: "conflict" });
    land(committed());
    await first;
  });
});

describe("who leaves", () => {
  test("is told that it is in progress; the execution goes on for the others", async () => {
    const stop = new AbortController();
    const leaves = aboard(60_000, stop.signal);
    const stays = aboard();
    await engine.clock.settle();
    stop.abort();
    expect(await leaves).toMatchObject({ status: "in_progress" });
    expect(executions[0]?.stopped.aborted).toBe(false);
    land(committed());
    expect(await stays).toMatchObject({ status: "committed" });
  });

  test("as the last one stops the flight", async () => {
    const stop = new AbortController();
    const leaves = aboard(60_000, stop.signal);
    await engine.clock.settle();
    const [execution] = executions;
    if (execution) execution.sent = true;
    stop.abort();
    expect(await leaves).toMatchObject({ status: "in_progress" });
    expect(execution?.stopped.aborted).toBe(true);
  });

  test("as the last one, with nothing sent, waits for its end: that is certain", async () => {
    const stop = new AbortController();
    const leaves = aboard(60_000, stop.signal);
    await engine.clock.settle();
    stop.abort();
    await engine.clock.settle();
    land(committed({ status: "not_applied", reason: "aborted" }));
    expect(await leaves).toMatchObject({ status: "not_applied", reason: "aborted" });
  });

  test("by its deadline leaves only if another may stay longer", async () => {
    const short = aboard(1_000);
    const long = aboard(5_000);
    await engine.clock.advance(1_000);
    expect(await short).toMatchObject({ status: "in_progress" });
    expect(executions[0]?.remainingMs()).toBe(4_000);
    await engine.clock.advance(4_000);
    expect(executions[0]?.remainingMs()).toBe(0);
    land(committed());
    expect(await long).toMatchObject({ status: "committed" });
  });

  test("leaves no timer and no listener behind", async () => {
    const stop = new AbortController();
    const call = aboard(1_000, stop.signal);
    await engine.clock.settle();
    land(committed());
    await call;
    expect(engine.clock.pending()).toBe(0);
    stop.abort();
    expect(executions[0]?.stopped.aborted).toBe(false);
  });
});

describe("the deadline of a flight", () => {
  test("is the latest of its callers'", async () => {
    void aboard(1_000);
    await engine.clock.advance(500);
    void aboard(2_000);
    expect(executions[0]?.remainingMs()).toBe(2_000);
    void aboard(10);
    expect(executions[0]?.remainingMs()).toBe(2_000);
  });

  test("stands still while a person is asked", async () => {
    void aboard(1_000);
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

  test("nobody waits for a user's code when the last caller has left", async () => {
    const stop = new AbortController();
    void aboard(1_000, stop.signal);
    await engine.clock.settle();
    const waiting = executions[0]?.untilStopped(() => new Promise(() => {}));
    stop.abort();
    expect(await waiting).toEqual({ tag: "stopped" });
  });

  test("an error of a user's code passes through", async () => {
    void aboard();
    await engine.clock.settle();
    const failing = executions[0]?.untilStopped(() => Promise.reject(new Error("down")));
    await expect(failing).rejects.toThrow("down");
  });
});
