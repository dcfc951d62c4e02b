import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { contextFrom } from "../../src/engine/attempt-context.ts";
import { createToken } from "../../src/wire/token.ts";

const KEY = "5f0e9c2a-7a51-8d0e-9f2b-3c1d5e7f9a1b";

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
    const names = ["key", "precondition", "attempt", "signal", "fetch"];
    expect(Object.keys(context)).toEqual(names);
    expect(names.every((name) => name in context && Object.hasOwn(context, name))).toBe(true);
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

  test("prints no key and no precondition, and printing takes nothing", () => {
    const { context, took } = open("etag-7");
    const printed = inspect(context, { depth: 5, showHidden: true });
    expect(printed).not.toContain(KEY);
    expect(printed).not.toContain("etag-7");
    expect(took).toEqual({ key: false, precondition: false });
  });
});
