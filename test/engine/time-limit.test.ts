import { describe, expect, test } from "vitest";
import { withTimeLimit } from "../../src/lang/clock.ts";
import { virtualClock } from "./virtual-clock.ts";

describe("a promise with so much time", () => {
  test("in time: its value, and no timer is left", async () => {
    const clock = virtualClock();
    expect(await withTimeLimit(clock, 10, Promise.resolve(7))).toEqual({ tag: "done", value: 7 });
    expect(clock.pending()).toBe(0);
  });

  test("failed in time: its error, whatever that is", async () => {
    const clock = virtualClock();
    expect(await withTimeLimit(clock, 10, Promise.reject(null))).toEqual({
      tag: "failed",
      error: null,
    });
    expect(clock.pending()).toBe(0);
  });

  test("late: said so at the time, and what comes later is nobody's rejection", async () => {
    const clock = virtualClock();
    let fail: (error: unknown) => void = () => {};
    const slow = new Promise((_, reject) => {
      fail = reject;
    });
    const given = withTimeLimit(clock, 10, slow);
    await clock.advance(10);
    expect(await given).toEqual({ tag: "late" });
    fail(new Error("late"));
    await clock.settle();
  });
});
