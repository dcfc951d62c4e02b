import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { contextFrom } from "../../src/engine/attempt-context.ts";
import { createToken } from "../../src/wire/token.ts";

const KEY = "5f0e9c2a-7a51-8d0e-9f2b-3c1d5e7f9a1b";
const NAMES = ["attempt", "precondition", "key", "signal", "fetch"];

function open(precondition?: string) {
  const took = { key: false, precondition: false };
  let signals = 0;
  const signal = (): AbortSignal => {
    signals += 1;
    return new AbortController().signal;
  };
  const token = createToken({ operationId: "id", attempt: 2 });
  const context = contextFrom({ key: KEY, precondition, attempt: 2, signal, token, took });
  return { context, took, signals: () => signals };
}

describe("what run is given", () => {
  test("notes what was taken of it, and makes a signal only when it is asked for", () => {
    const { context, took, signals } = open("etag-7");
    expect(context.attempt).toBe(2);
    expect([took, signals()]).toEqual([{ key: false, precondition: false }, 0]);
    expect(context.precondition).toBe("etag-7");
    expect(took).toEqual({ key: false, precondition: true });
    expect(context.key).toBe(KEY);
    expect(took).toEqual({ key: true, precondition: true });
    expect(context.signal.aborted).toBe(false);
    expect(signals()).toBe(1);
  });

  test("can be copied: the copy has the key, and the key counts as taken", () => {
    const { context, took } = open();
    const copy = { ...context };
    expect(copy.key).toBe(KEY);
    expect(took.key).toBe(true);
    expect(copy.precondition).toBeUndefined();
    expect(copy.fetch).toBeTypeOf("function");
  });

  test("is an object like any other, and to ask which fields it has takes none", () => {
    const { context, took, signals } = open("etag-7");
    expect(Object.keys(context)).toEqual(NAMES);
    expect(NAMES.every((name) => name in context && Object.hasOwn(context, name))).toBe(true);
    expect(Object.hasOwn(context, "source") || "source" in context).toBe(false);
    expect(String(context)).toBe("[object Object]");
    expect(() => Object.assign(context, { key: "mine" })).toThrow(TypeError);
    expect([took, signals()]).toEqual([{ key: false, precondition: false }, 0]);
    const { key, attempt, ...rest } = context;
    expect([key, attempt, Object.keys(rest)]).toEqual([
      KEY,
      2,
      ["precondition", "signal", "fetch"],
    ]);
  });

  test("takes what run adds to it", () => {
    const { context, took } = open();
    const more = Object.assign(context, { db: "orders" });
    expect(more.db).toBe("orders");
    expect(Object.defineProperty(context, "log", { value: "kept" })).toHaveProperty("log", "kept");
    expect(Object.keys({ ...context })).toEqual([...NAMES, "db"]);
    expect([took.key, context.key]).toEqual([true, KEY]);
  });

  test.each([
    ["frozen", Object.freeze],
    ["sealed", Object.seal],
    ["closed to more fields", Object.preventExtensions],
  ])("has its fields also after it was %s, and that takes none", (_, close) => {
    const { context, took, signals } = open("etag-7");
    close(context);
    expect(Object.keys(context)).toEqual(NAMES);
    expect([took, signals()]).toEqual([{ key: false, precondition: false }, 0]);
    expect(() => Object.assign(context, { db: "orders" })).toThrow(TypeError);
    const { key, attempt } = { ...context };
    expect([key, attempt, context.precondition]).toEqual([KEY, 2, "etag-7"]);
  });

  test("prints no key and no precondition, and printing takes nothing", () => {
    const { context, took } = open("etag-7");
    const printed = inspect(context, { depth: 5, showHidden: true });
    expect(printed).not.toContain(KEY);
    expect(printed).not.toContain("etag-7");
    expect(took).toEqual({ key: false, precondition: false });
  });
});
