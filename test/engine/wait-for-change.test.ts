import { beforeEach, describe, expect, test } from "vitest";
import { waitForChange } from "../../src/engine/steps/parts/wait-for-change.ts";
import type { Change } from "../../src/ledger/store.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { engineOf, executionOf, operationOf, type TestEngine } from "./engine-of.ts";

let engine: TestEngine;

beforeEach(() => {
  engine = engineOf();
});

describe("a wait for another owner", () => {
  test.each([
    [0, 18.75],
    [1, 37.5],
    [4, 300],
    [6, 750],
    [1_000, 750],
  ])("polls more and more seldom: turn %i after %d ms", async (turn, ms) => {
    const execution = executionOf(operationOf(engine));
    expect(await engine.clock.run(waitForChange(execution, turn, engine))).toBe(true);
    expect(engine.clock.monotonic()).toBe(ms);
    expect(engine.clock.pending()).toBe(0);
  });

  test("ends at once when the store says that something changed", async () => {
    const operation = operationOf(engine);
    const waiting = waitForChange(executionOf(operation), 10, engine);
    const { tenant, id } = operation.ref;
    const change: Change = { tenant, id, expect: 0, record: recordOf({ tenant, id }), lease: 1 };
    await engine.failing.swap(change);
    expect(await waiting).toBe(true);
    expect(engine.clock.monotonic()).toBe(0);
    expect(engine.clock.pending()).toBe(0);
  });

  test("never outlasts the deadline, and does not begin after it", async () => {
    const operation = operationOf(engine);
    const short = executionOf(operation, { remainingMs: () => 5 });
    expect(await engine.clock.run(waitForChange(short, 10, engine))).toBe(true);
    expect(engine.clock.monotonic()).toBe(5);
    const over = executionOf(operation, { remainingMs: () => 0 });
    expect(await waitForChange(over, 0, engine)).toBe(false);
  });

  test("ends when nobody waits any more", async () => {
    const stop = new AbortController();
    const execution = executionOf(operationOf(engine), { stopped: stop.signal });
    const waiting = waitForChange(execution, 10, engine);
    stop.abort();
    expect(await waiting).toBe(false);
    expect(await waitForChange(execution, 0, engine)).toBe(false);
    expect(engine.clock.pending()).toBe(0);
  });
});
