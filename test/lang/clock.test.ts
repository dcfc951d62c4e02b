import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../src/lang/clock.ts";
import { turn } from "../engine/virtual-clock.ts";

/** Without `setImmediate`, with which the clock ends a turn. */
const FAKED = ["setTimeout", "clearTimeout", "Date"] as const;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

let fired: string[];
const note = (name: string) => () => {
  fired.push(name);
};

/** Lets the clock set its timers, and so much time pass. */
async function pass(ms: number): Promise<void> {
  await turn();
  vi.advanceTimersByTime(ms);
}

beforeEach(async () => {
  // What another test has left to the end of its turn is over.
  await turn();
  fired = [];
  vi.useFakeTimers({ toFake: [...FAKED] });
  vi.spyOn(performance, "now").mockImplementation(() => Date.now());
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("the timers of the system's clock", () => {
  test("fire once, each at its time", async () => {
    systemClock.after(20, note("b"));
    systemClock.after(10, note("a"));
    await pass(9);
    expect(fired).toEqual([]);
    await pass(1);
    expect(fired).toEqual(["a"]);
    await pass(100);
    expect(fired).toEqual(["a", "b"]);
  });

  test("count the time in which the loop is blocked: a lease must be renewed as soon as it can be", async () => {
    systemClock.after(10, note("renewal"));
    // A tool that waits for a program, say, before the turn ends.
    vi.advanceTimersByTime(25);
    await pass(0);
    expect(fired).toEqual(["renewal"]);
  });

  test("never fire once cancelled, in the turn they were made in or later, also twice", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const [a, b, , d, e] = names.map((name) => systemClock.after(10, note(name)));
    // The last of those that wait takes the place of the first, and must be found there.
    a?.();
    e?.();
    a?.();
    await pass(9);
    d?.();
    d?.();
    await pass(100);
    expect(fired).toEqual(["b", "c"]);
    systemClock.after(10, note("f"));
    b?.();
    await pass(10);
    expect(fired).toEqual(["b", "c", "f"]);
  });

  test("never fire once cancelled inside another's callback, though both are due", async () => {
    const cancels: (() => void)[] = [];
    systemClock.after(10, () => {
      note("a")();
      for (const cancel of cancels) cancel();
      systemClock.after(10, note("c"));
    });
    cancels.push(systemClock.after(10, note("b")));
    await pass(10);
    expect(fired).toEqual(["a"]);
    await pass(10);
    expect(fired).toEqual(["a", "c"]);
  });

  test.each([Number.NaN, -1, Number.NEGATIVE_INFINITY])("fire soon after %d ms", async (ms) => {
    // Node itself must take it. It warns of `NaN`.
    vi.useRealTimers();
    await new Promise<void>((resolve) => systemClock.after(ms, resolve));
  });

  test.each([Number.POSITIVE_INFINITY, LONGEST_TIMER_MS + 1])(
    "do not fire at once after %d ms, which is longer than Node can wait",
    async (ms) => {
      const cancel = systemClock.after(ms, note("a"));
      systemClock.after(10, note("b"));
      await pass(LONGEST_TIMER_MS - 1);
      expect(fired).toEqual(["b"]);
      cancel();
    },
  );

  // The last one: where it fails, no timer of this process fires any more.
  test("go on after a test has faked setImmediate and put it back", async () => {
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: [...FAKED, "setImmediate"] });
    systemClock.after(10, note("under the fake"));
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: [...FAKED] });
    systemClock.after(10, note("after it"));
    await pass(10);
    expect(fired).toEqual(["under the fake", "after it"]);
  });
});
