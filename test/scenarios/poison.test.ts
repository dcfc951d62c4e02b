/**
 * What tools throw and return when they mean no good: nothing of it may crash a call, or make a
 * commit look like a failure.
 *
 * @module
 */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import { createHoldfire } from "../../src/create.ts";
import { peek } from "../../src/lang/peek.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { type VirtualClock, virtualClock } from "../engine/virtual-clock.ts";
import { listen } from "./world.ts";

const ONCE = { scope: "s" };

let clock: VirtualClock;
let hf: Holdfire;
let heard: ReturnType<typeof listen>;
let unhandled: unknown[];
const note = (reason: unknown) => unhandled.push(reason);

beforeEach(() => {
  unhandled = [];
  process.on("unhandledRejection", note);
  clock = virtualClock();
  const store = memoryStore({ now: clock.now, forgets: "accepted" });
  hf = createHoldfire({ store, surroundings: { clock, random: () => 0.5 } });
  heard = listen(hf);
});

afterEach(async () => {
  await clock.settle();
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

/** A tool whose run does this. */
const toolOf = (run: () => unknown, options: object = {}) =>
  hf.tool<object, unknown>({
    name: "poison",
    kind: "write",
    ...options,
    run: () => run() as never,
  });

const throwing = (what: string): never => {
  throw new Error(what);
};

const trap = (): never => throwing("trap");

const HOSTILE = new Proxy({}, { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap });

const BAD_ERRORS: readonly (readonly [string, unknown])[] = [
  ["null", null],
  ["undefined", undefined],
  ["a string", "boom"],
  ["a number", 0],
  ["a symbol", Symbol("boom")],
  ["a bigint", 1n],
  ["a frozen object", Object.freeze({ status: 404 })],
  [
    "an object whose getters throw",
    Object.defineProperties(
      {},
      { status: { get: trap }, code: { get: trap }, cause: { get: trap }, message: { get: trap } },
    ),
  ],
  ["a proxy that throws at every touch", HOSTILE],
  ["an error that causes itself", causingItself()],
  ["an error without a prototype", Object.create(null)],
  ["a TypeError, as fetch throws it", new TypeError("fetch failed")],
  ["an AbortError that nobody asked for", new DOMException("aborted", "AbortError")],
  ["a promise", Promise.resolve("odd")],
  ["a function", () => {}],
];

function causingItself(): Error {
  const error = new Error("loop");
  error.cause = error;
  return error;
}

describe("F19: a run that throws", () => {
  test.each(BAD_ERRORS)(
    "%s is an unknown outcome, told as an error of holdfire's",
    async (_, thrown) => {
      let runs = 0;
      const tool = toolOf(async () => {
        runs += 1;
        throw thrown;
      });
      const outcome = await clock.run(tool.outcome({}, ONCE));
      // What says that it was answered is believed so far, and proves nothing.
      const reason = peek(thrown, "status") === 404 ? "unclear_answer" : "run_failed";
      expect(outcome).toMatchObject({ status: "unknown", reason });
      const error = await clock.run(tool({}, ONCE).catch((caught: unknown) => caught));
      expect(error).toMatchObject({ code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN" });
      expect(runs).toBe(1);
    },
  );

  test.each(BAD_ERRORS)("%s synchronously is no different", async (_, thrown) => {
    const tool = toolOf(() => {
      throw thrown;
    });
    expect(await clock.run(tool.outcome({}, ONCE))).toMatchObject({ status: "unknown" });
  });

  test.each(BAD_ERRORS)("%s in a read tool is retried, then told", async (_, thrown) => {
    let runs = 0;
    const read = toolOf(
      async () => {
        runs += 1;
        throw thrown;
      },
      { kind: "read" },
    );
    expect(await clock.run(read.outcome({}))).toMatchObject({ status: "not_applied" });
    expect(runs).toBe(4);
  });

  test("what was thrown is the cause, and nothing of it is enumerable", async () => {
    const thrown = new Error("secret 4111");
    const tool = toolOf(() => Promise.reject(thrown));
    const error = await clock.run(tool({}, ONCE).catch((caught: unknown) => caught));
    expect((error as Error).cause).toBe(thrown);
    expect(JSON.stringify(error)).not.toContain("4111");
  });
});

describe("F19: a run that does not behave", () => {
  test("one that never settles is given up at the deadline", async () => {
    const tool = toolOf(() => new Promise(() => {}));
    const outcome = await clock.run(tool.outcome({}, ONCE));
    expect(outcome).toMatchObject({ status: "in_progress", reason: "still_running" });
  });

  test("one that settles twice settles once", async () => {
    const tool = toolOf(
      () =>
        new Promise((resolve, reject) => {
          resolve("first");
          resolve("second");
          reject(new Error("third"));
        }),
    );
    const outcome = await clock.run(tool.outcome({}, ONCE));
    expect(outcome).toMatchObject({ status: "committed", result: "first" });
  });

  test("one that rejects after its time was up is filed, and nothing is unhandled", async () => {
    let reject: (error: unknown) => void = () => {};
    const tool = toolOf(
      () =>
        new Promise((_, no) => {
          reject = no;
        }),
    );
    const outcome = await clock.run(tool.outcome({}, ONCE));
    reject(HOSTILE);
    await clock.settle();
    const view = await hf.operations.get(outcome.id);
    expect(view).toMatchObject({ status: "unknown", evidence: [{ verdict: "unknown" }] });
  });

  test("a promise it forgot is its own affair, and its result counts", async () => {
    const tool = toolOf(async () => {
      Promise.reject(new Error("forgotten")).catch(() => {});
      return "done";
    });
    expect(await clock.run(tool({}, ONCE))).toBe("done");
  });
});

const circular: { self?: unknown } = {};
circular.self = circular;

const deep = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = { value };
  return value;
};

const LOST: readonly (readonly [string, () => unknown])[] = [
  ["a result that contains itself", () => circular],
  ["a bigint", () => ({ n: 1n })],
  ["a function", () => () => 1],
  ["a symbol", () => Symbol("s")],
  ["a Map", () => new Map([["a", 1]])],
  ["NaN", () => Number.NaN],
  ["50 MB of text", () => "x".repeat(50_000_000)],
  ["100_000 levels", () => deep(100_000)],
  ["a toJSON that throws", () => ({ toJSON: trap })],
  ["a getter that throws", () => Object.defineProperty({}, "a", { get: trap, enumerable: true })],
  ["a proxy whose prototype cannot be read", () => new Proxy({}, { getPrototypeOf: trap })],
  ["a proxy whose keys cannot be read", () => new Proxy({}, { ownKeys: trap })],
  ["an error as a value", () => new Error("returned, not thrown")],
];

describe("F20: a result that cannot be kept was still committed", () => {
  test.each(LOST)("%s", async (_, make) => {
    let runs = 0;
    const tool = toolOf(async () => {
      runs += 1;
      return make();
    });
    const first = await clock.run(tool.outcome({}, ONCE));
    expect(first.status).toBe("committed");
    expect(heard("warning", "payload_lost")).toHaveLength(1);
    const again = await clock.run(tool.outcome({}, ONCE));
    expect(again).toMatchObject({ status: "committed", replayed: true, resultLost: true });
    expect(runs).toBe(1);
  });

  test.each(LOST)("%s, with a `verify` that looks at it", async (_, make) => {
    const tool = toolOf(async () => make(), { verify: () => true });
    expect((await clock.run(tool.outcome({}, ONCE))).status).toBe("committed");
  });

  test.each(LOST)("%s, of a read tool, is given as it is", async (_, make) => {
    const read = toolOf(async () => make(), { kind: "read" });
    expect((await clock.run(read.outcome({}))).status).toBe("committed");
  });

  test.each<readonly [string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["false", false],
    ["-0", -0],
    ["an empty text", ""],
    ["a key __proto__", JSON.parse('{"__proto__":{"admin":true},"constructor":1}')],
    ["a lone surrogate", "a\ud800b"],
  ])("%s is kept and replayed as it was", async (_, value) => {
    const tool = toolOf(async () => value);
    await clock.run(tool({}, ONCE));
    const again = await clock.run(tool({}, ONCE));
    expect(again).toStrictEqual(value);
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  test("a toJSON with side effects is called, and the commit stands", async () => {
    let calls = 0;
    const tool = toolOf(async () => ({
      toJSON() {
        calls += 1;
        return { calls };
      },
    }));
    expect((await clock.run(tool.outcome({}, ONCE))).status).toBe("committed");
    expect(await clock.run(tool({}, ONCE))).toEqual({ calls: 1 });
  });

  test.each(["type", "id"])("`effect.%s` that throws changes nothing", async (option) => {
    const tool = toolOf(async () => "done", { effect: { [option]: trap } });
    expect(await clock.run(tool.outcome({}, ONCE))).toMatchObject({
      status: "committed",
      result: "done",
    });
  });

  test("`revive` that throws makes the result lost, not the operation failed", async () => {
    const tool = toolOf(async () => "done", { revive: trap });
    await clock.run(tool({}, ONCE));
    const again = await clock.run(tool.outcome({}, ONCE));
    expect(again).toMatchObject({ status: "committed", resultLost: true });
  });

  test("`classify` that throws or returns nonsense has no opinion", async () => {
    const bad = toolOf(() => Promise.reject(new Error("x")), { classify: trap });
    expect(await clock.run(bad.outcome({ n: 1 }, ONCE))).toMatchObject({ status: "unknown" });
    const odd = toolOf(() => Promise.reject(new Error("x")), { classify: () => "sure" });
    expect(await clock.run(odd.outcome({ n: 2 }, ONCE))).toMatchObject({ status: "unknown" });
    const late = toolOf(() => Promise.reject(new Error("x")), {
      classify: () => Promise.reject(new Error("late")),
    });
    expect(await clock.run(late.outcome({ n: 3 }, ONCE))).toMatchObject({ status: "unknown" });
  });

  test.each(BAD_ERRORS)("a reader that throws %s cannot tell", async (_, thrown) => {
    const tool = toolOf(() => Promise.reject(new Error("lost")), {
      readState: () => {
        throw thrown;
      },
    });
    const outcome = await clock.run(tool.outcome({}, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  });

  test("a reader that returns a hostile proxy cannot tell", async () => {
    const tool = toolOf(() => Promise.reject(new Error("lost")), {
      readState: () => new Proxy({}, { get: (_, name) => (name === "then" ? undefined : trap()) }),
    });
    const outcome = await clock.run(tool.outcome({}, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  });

  test("a listener that throws or rejects changes nothing", async () => {
    hf.on("attempt", trap);
    hf.on("outcome", (() => Promise.reject(new Error("later"))) as never);
    const tool = toolOf(async () => "done");
    expect(await clock.run(tool({}, ONCE))).toBe("done");
  });
});
