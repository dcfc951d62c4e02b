import { beforeEach, describe, expect, test } from "vitest";
import { createBudgets } from "../../src/engine/budget.ts";
import { budgetOf } from "../../src/engine/define/settings.ts";
import { runSample, type Sample } from "../../src/engine/reads-and-samples/sample.ts";
import { createEvents } from "../../src/observe/events.ts";
import { engineOf, type TestEngine } from "./engine-of.ts";

let engine: TestEngine;
/** When each send began, by the virtual clock, and with which key. */
let sends: { at: number; key: string; attempt: number }[];
let told: unknown[];

beforeEach(() => {
  sends = [];
  told = [];
  const events = createEvents();
  events.on("sample", ({ attempt, status }) => told.push([attempt, status]));
  engine = engineOf({ events });
});

/** Sends until an answer of the list is no error; the last one stays. */
function sampleOf(answers: readonly unknown[], rest: Partial<Sample<unknown>> = {}) {
  const send = async (attempt: number, key: string): Promise<unknown> => {
    sends.push({ at: engine.clock.monotonic(), key, attempt });
    const answer = answers[Math.min(sends.length, answers.length) - 1];
    if (typeof answer === "string") return answer;
    throw answer;
  };
  return runSample({ client: "openai", step: "POST /responses", send, ...rest }, engine);
}

const failed = (status: unknown, headers: Record<string, string> = {}) =>
  Object.assign(new Error("no"), { status, headers });
const fails = (sampling: Promise<unknown>): Promise<unknown> =>
  engine.clock.run(
    sampling.then(
      () => "no error",
      (error: unknown) => error,
    ),
  );

const reset = Object.assign(new TypeError("fetch failed"), {
  cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }),
});

describe("a model call is sent again", () => {
  test.each([
    ["429", failed(429)],
    ["503", failed(503)],
    ["an SDK's error without an answer", failed(undefined)],
    ["a connection that broke", reset],
    ["a 400 of which the service says so", failed(400, { "x-should-retry": "true" })],
  ])("after %s", async (_, error) => {
    expect(await engine.clock.run(sampleOf([error, "yes"]))).toBe("yes");
    expect(sends.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(sends.map(({ key }) => key)).size).toBe(1);
  });

  test.each([
    ["400", failed(400)],
    ["401", failed(401)],
    ["a 503 of which the service says so", failed(503, { "x-should-retry": "false" })],
    ["a bug", new TypeError("x is not a function")],
    ["an object that is no error", { message: "no" }],
    ["a text", "thrown"],
    ["nothing", null],
  ])("not after %s: its caller gets it untouched", async (_, error) => {
    const thrown = { error };
    const sending = runSample(
      {
        client: "openai",
        step: "POST /responses",
        send: async (attempt, key) => {
          sends.push({ at: 0, key, attempt });
          throw thrown.error;
        },
      },
      engine,
    );
    expect(await fails(sending)).toBe(error);
    expect(sends).toHaveLength(1);
  });

  test("where the client has renewed its token meanwhile", async () => {
    let renewals = 1;
    const renewed = () => renewals-- > 0;
    const error = failed(401);
    expect(await fails(sampleOf([error], { renewed }))).toBe(error);
    expect(sends).toHaveLength(2);
  });
});

describe("how often, and when", () => {
  test("four times, unless another number is given; the last error is the caller's", async () => {
    const errors = [503, 503, 503, 500].map((status) => failed(status));
    expect(await fails(sampleOf(errors))).toBe(errors[3]);
    expect(told).toEqual([
      [1, 503],
      [2, 503],
      [3, 503],
      [4, 500],
    ]);
    sends = [];
    await fails(sampleOf([failed(503)], { attempts: 2 }));
    expect(sends).toHaveLength(2);
  });

  test("after the pause that the service asks for, else after one that doubles", async () => {
    await engine.clock.run(sampleOf([failed(429, { "retry-after": "7" }), "yes"]));
    expect(sends.map(({ at }) => at)).toEqual([0, 7_000]);
    sends = [];
    await fails(sampleOf([failed(503)]));
    const times = sends.map(({ at }) => at);
    const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(pauses).toEqual([125, 250, 500]);
  });

  test("none starts after the deadline: a pause that reaches it is not begun", async () => {
    const asks = failed(429, { "retry-after": "10" });
    expect(await fails(sampleOf([asks], { deadlineMs: 10_000 }))).toBe(asks);
    expect(sends).toHaveLength(1);
    expect(engine.clock.monotonic()).toBe(0);
    sends = [];
    await fails(sampleOf([asks], { deadlineMs: 10_001 }));
    expect(sends).toHaveLength(2);
    sends = [];
    await fails(sampleOf([failed(429, { "retry-after": "60" })]));
    expect(sends).toHaveLength(1);
  });

  test("an abort in the pause ends it with the error that there was", async () => {
    const stop = new AbortController();
    const error = failed(503, { "retry-after": "5" });
    const sampling = fails(sampleOf([error, "yes"], { signal: stop.signal }));
    engine.clock.after(1_000, () => stop.abort());
    expect(await sampling).toBe(error);
    expect(sends).toHaveLength(1);
    expect(engine.clock.monotonic()).toBe(1_000);
  });

  test("a caller that has left while it was sent gets no second send", async () => {
    const stop = new AbortController();
    const error = failed(503);
    const send = async () => {
      sends.push({ at: 0, key: "", attempt: 1 });
      stop.abort();
      throw error;
    };
    expect(await fails(sampleOf([], { send, signal: stop.signal }))).toBe(error);
    expect(sends).toHaveLength(1);
  });
});

describe("the retry budget of its client", () => {
  const budgeted = (tokens: number) => {
    const { clock } = engine;
    const budget = budgetOf({ budget: { tokens, perSecond: 0, perSuccess: 1 } });
    engine = { ...engine, budgets: createBudgets(budget, clock) };
  };

  test("is spent by resends, and given back by an answer", async () => {
    budgeted(1);
    await fails(sampleOf([failed(503)]));
    expect(sends).toHaveLength(2);
    await fails(sampleOf([failed(503)]));
    expect(sends).toHaveLength(3);
    await engine.clock.run(sampleOf(["yes"]));
    sends = [];
    await fails(sampleOf([failed(503)]));
    expect(sends).toHaveLength(2);
  });

  test("is not spent by a resend that an abort has prevented", async () => {
    budgeted(1);
    const stop = new AbortController();
    const aborted = fails(sampleOf([failed(503, { "retry-after": "5" })], { signal: stop.signal }));
    engine.clock.after(1_000, () => stop.abort());
    await aborted;
    sends = [];
    await fails(sampleOf([failed(503)]));
    expect(sends).toHaveLength(2);
  });

  test("is that of one client: another has its own", async () => {
    budgeted(1);
    await fails(sampleOf([failed(503)]));
    sends = [];
    await fails(sampleOf([failed(503)], { client: "anthropic" }));
    expect(sends).toHaveLength(2);
  });
});

describe("a client that is owned on two levels", () => {
  test("the upper one decides: what it sends through the lower one is sent once", async () => {
    const error = failed(503);
    const send = () => sampleOf([error]);
    expect(
      await fails(runSample({ client: "model", step: "ask", send, attempts: 2 }, engine)),
    ).toBe(error);
    expect(sends).toHaveLength(2);
  });

  test("what goes on after the upper attempt has ended decides for itself", async () => {
    let later: Promise<unknown> = Promise.resolve();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const send = async () => {
      later = released.then(() => sampleOf([failed(503), "yes"]));
      return "done";
    };
    expect(await engine.clock.run(runSample({ client: "model", step: "ask", send }, engine))).toBe(
      "done",
    );
    release();
    expect(await engine.clock.run(later)).toBe("yes");
    expect(sends).toHaveLength(2);
  });
});
