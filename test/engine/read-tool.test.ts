/** When a read is asked again, for how long, and what its caller is told; on a clock that the test moves. */
import { beforeEach, describe, expect, test } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { type VirtualClock, virtualClock } from "./virtual-clock.ts";

let clock: VirtualClock;
let hf: Holdfire;
/** When each `run` began. */
let began: number[];

beforeEach(() => {
  clock = virtualClock();
  began = [];
  const store = memoryStore({ now: clock.now, forgets: "accepted" });
  hf = createHoldfire({ store, surroundings: { clock, random: () => 0.5 } });
});

const HANGS = Symbol("hangs");

/** A read whose attempts end like these, the last of them again and again. */
function reader(ends: readonly unknown[], rest: object = {}) {
  return hf.tool({
    name: "look",
    kind: "read",
    run: async (_: object) => {
      began.push(clock.monotonic());
      const end = ends[Math.min(began.length, ends.length) - 1];
      if (end === HANGS) return new Promise<never>(() => {});
      if (end instanceof Error) throw end;
      return end;
    },
    ...rest,
  });
}

const failed = (status: number, headers: Record<string, string> = {}) =>
  Object.assign(new Error(`HTTP ${status}`), { status, headers });
const told = (ends: readonly unknown[], rest: object = {}, options: object = {}) =>
  clock.run(reader(ends, rest).outcome({}, options));

describe("a read is asked again", () => {
  test("after a pause that doubles, or the one that the service asks for", async () => {
    await told([failed(503)]);
    expect(began).toEqual([0, 125, 375, 875]);
    began = [];
    const start = clock.monotonic();
    await told([failed(429, { "retry-after": "9" }), "yes"]);
    expect(began).toEqual([start, start + 9_000]);
  });

  test("until it is answered: the answer is the outcome, and no attempt is hidden", async () => {
    expect(await told([failed(503), failed(500), "yes"])).toMatchObject({
      status: "committed",
      result: "yes",
      attempts: 3,
    });
  });

  test("also after a bug: it may pass", async () => {
    expect(await told([new TypeError("x is undefined"), "yes"])).toMatchObject({ attempts: 2 });
  });

  test("not where the tool itself calls it a no", async () => {
    const outcome = await told([failed(503)], { classify: () => "rejected" });
    expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected", attempts: 1 });
  });

  test("a `Response` that says not now is asked for again; any other is the caller's", async () => {
    const busy = () => new Response("busy", { status: 503 });
    const outcome = await told([busy(), new Response("no", { status: 404 })]);
    expect(outcome).toMatchObject({ status: "committed", attempts: 2, result: { status: 404 } });
    began = [];
    const last = await told([busy()], { attempts: 2 });
    expect(last).toMatchObject({ status: "committed", attempts: 2, result: { status: 503 } });
    // What only looks like one is a value like any other.
    began = [];
    expect(await told([{ status: 503 }])).toMatchObject({ status: "committed", attempts: 1 });
  });
});

describe("its time", () => {
  test("no attempt lasts longer than its own, and none starts after the deadline", async () => {
    const outcome = await told([HANGS], { attemptTimeoutMs: 4_000 }, { deadlineMs: 10_000 });
    // 0 to 4,000, a pause of 125, to 8,125, a pause of 250, and what is left.
    expect(began).toEqual([0, 4_125, 8_375]);
    expect(clock.monotonic()).toBe(10_000);
    expect(outcome).toMatchObject({ status: "not_applied", reason: "unanswered", attempts: 3 });
    expect(outcome).toMatchObject({ error: undefined, because: "No answer was seen." });
  });

  test("a pause that reaches the deadline is not begun", async () => {
    const asks = failed(429, { "retry-after": "10" });
    await told([asks], {}, { deadlineMs: 10_000 });
    expect([began.length, clock.monotonic()]).toEqual([1, 0]);
    began = [];
    await told([asks, "yes"], {}, { deadlineMs: 10_001 });
    expect(began).toHaveLength(2);
  });

  test("a caller that leaves in the pause is told so, with the attempts that were made", async () => {
    const stop = new AbortController();
    clock.after(1_000, () => stop.abort());
    const asks = failed(503, { "retry-after": "5" });
    expect(await told([asks], {}, { signal: stop.signal })).toMatchObject({
      status: "not_applied",
      reason: "aborted",
      attempts: 1,
    });
    expect([began.length, clock.monotonic()]).toEqual([1, 1_000]);
  });

  test("the signal of an attempt whose time is up fires, that of one that has ended as well", async () => {
    const signals: AbortSignal[] = [];
    const look = hf.tool({
      name: "look",
      kind: "read",
      attemptTimeoutMs: 1_000,
      run: async (_: object, { signal }) => {
        expect(signals.every(({ aborted }) => aborted)).toBe(true);
        signals.push(signal);
        return signals.length === 1 ? new Promise<never>(() => {}) : "yes";
      },
    });
    expect(await clock.run(look({}))).toBe("yes");
    expect(signals).toHaveLength(2);
  });
});

describe("what is told where nobody answered", () => {
  test("the last status, and what was thrown", async () => {
    const error = failed(500);
    const outcome = await told([failed(503), error], { attempts: 2 });
    expect(outcome).toMatchObject({ status: "not_applied", reason: "unanswered", answered: 500 });
    expect(outcome).toMatchObject({ rejection: { status: 500 }, attempts: 2, error });
    expect(outcome).toMatchObject({
      because: "The service answered 500. The tool failed with Error: HTTP 500.",
      threw: "Error: HTTP 500",
    });
  });

  test("nothing of it is in the ledger", async () => {
    await told([failed(500)]);
    expect((await hf.operations.list()).items).toEqual([]);
  });
});
