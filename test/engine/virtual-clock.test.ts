import { describe, expect, test } from "vitest";
import { sleep } from "../../src/lang/clock.ts";
import { turn, virtualClock } from "./virtual-clock.ts";

describe("the virtual clock", () => {
  test("stands still until it is told to move", async () => {
    const clock = virtualClock(1_000);
    await turn();
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
    await clock.advance(500);
    expect([clock.now(), clock.monotonic()]).toEqual([1_500, 500]);
  });

  test("fires timers in order, each at its time, those of timers included", async () => {
    const clock = virtualClock(0);
    const fired: string[] = [];
    const note = (name: string) => () => {
      fired.push(`${name} ${clock.now()}`);
    };
    clock.after(20, note("b"));
    clock.after(10, () => {
      note("a")();
      clock.after(5, note("c"));
    });
    clock.after(31, note("late"));
    await clock.advance(30);
    expect(fired).toEqual(["a 10", "c 15", "b 20"]);
    expect(clock.pending()).toBe(1);
  });

  test("a cancelled timer does not fire, and a delay below zero is none", async () => {
    const clock = virtualClock(0);
    let fired = 0;
    const cancel = clock.after(10, () => {
      fired += 1;
    });
    cancel();
    clock.after(-5, () => {
      fired += 10;
    });
    await clock.advance(100);
    expect(fired).toBe(10);
  });

  test("runs from timer to timer until a promise has settled, and no further", async () => {
    const clock = virtualClock(0);
    clock.after(1_000_000, () => {});
    expect(await clock.run(sleep(clock, 5_000))).toBe("slept");
    expect(clock.monotonic()).toBe(5_000);
    await expect(clock.run(Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  test("does not move while it is not quiet", async () => {
    const clock = virtualClock(0);
    let quiet = false;
    const sleeping = clock.run(sleep(clock, 10), () => quiet);
    await turn();
    expect(clock.monotonic()).toBe(0);
    quiet = true;
    await sleeping;
    expect(clock.monotonic()).toBe(10);
  });

  test("a jump moves the wall clock alone", () => {
    const clock = virtualClock(1_000);
    clock.jump(-300);
    expect([clock.now(), clock.monotonic()]).toEqual([700, 0]);
  });
});
