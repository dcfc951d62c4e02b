import { describe, expect, test } from "vitest";
import { type Pass, repeat } from "../../src/engine/passes.ts";

const noWait = async () => {};
const again = (waitMs: number): Pass<never> => ({ tag: "wait", waitMs });
const done = <T>(value: T): Pass<T> => ({ tag: "done", value });

describe("passes", () => {
  test("go on until one returns, with the pause each asks for", async () => {
    const waits: number[] = [];
    const result = await repeat(
      async (pass) => {
        if (pass < 4) return again(pass * 10);
        return done(`pass ${pass}`);
      },
      async (ms) => {
        waits.push(ms);
      },
    );
    expect(result).toBe("pass 4");
    expect(waits).toEqual([10, 20, 30]);
  });

  test("may be very many", async () => {
    const last = 2_000;
    const result = await repeat(async (pass) => {
      return pass < last ? again(0) : done(pass);
    }, noWait);
    expect(result).toBe(last);
  });

  test.each([
    ["a TypeError", new TypeError("fetch failed")],
    ["an Error", new Error("boom")],
    ["an AbortError", new DOMException("aborted", "AbortError")],
  ])("%s of ours is not repeated, and comes out as it is", async (_, error) => {
    let passes = 0;
    const ended = repeat(async () => {
      passes += 1;
      throw error;
    }, noWait);
    await expect(ended).rejects.toBe(error);
    expect(passes).toBe(1);
  });

  test("a user's error never gets here: it travels as a value", async () => {
    const errors: unknown[] = [];
    const result = await repeat(async (pass) => {
      const thrown = pass === 1 ? new TypeError("network") : "a string";
      errors.push(thrown);
      return pass < 3 ? again(0) : done(thrown);
    }, noWait);
    expect(result).toBe("a string");
    expect(errors).toHaveLength(3);
  });
});
