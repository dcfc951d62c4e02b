import { describe, expect, test } from "vitest";
import { createBudgets } from "../../src/engine/budget.ts";
import { budgetOf } from "../../src/engine/define/settings.ts";

const times = (count: number, work: () => void) => {
  for (let index = 0; index < count; index += 1) work();
};

const MINUTE_MS = 60_000;

function open(options: Parameters<typeof budgetOf>[0] = {}) {
  let now = 0;
  const budgets = createBudgets(budgetOf(options), { monotonic: () => now });
  return {
    ...budgets,
    reserve: (service = "shop", withinMs = MINUTE_MS) => budgets.reserve(service, withinMs),
    after(ms: number) {
      now += ms;
    },
  };
}

/** Only successes bring tokens back. */
const UNTIMED = { budget: { perSecond: 0 } };

describe("a retry budget", () => {
  test("is ten resends at once, and then each waiter gets a time of its own, a second apart", () => {
    const { reserve } = open();
    const waits = Array.from({ length: 13 }, () => reserve());
    expect(waits).toEqual([...Array(10).fill(0), 1_000, 2_000, 3_000]);
  });

  test("comes back with time, and is never more than ten", () => {
    const { reserve, after } = open();
    times(10, () => reserve());
    after(2_000);
    expect([reserve(), reserve(), reserve()]).toEqual([0, 0, 1_000]);
    after(MINUTE_MS * 60);
    expect(Array.from({ length: 11 }, () => reserve()).at(-1)).toBe(1_000);
  });

  test("what cannot be had within the time is not taken", () => {
    const { reserve } = open();
    times(10, () => reserve());
    expect(reserve("shop", 1_000)).toBeUndefined();
    expect(reserve()).toBe(1_000);
  });

  test("what was reserved and not used can be put back", () => {
    const { reserve, putBack } = open();
    times(11, () => reserve());
    putBack("shop");
    expect(reserve()).toBe(1_000);
  });

  test("ten successes give one back, and nine do not", () => {
    const { reserve, reward } = open({ ...UNTIMED });
    times(10, () => reserve());
    times(9, () => reward("shop"));
    expect(reserve()).toBeUndefined();
    reward("shop");
    expect(reserve()).toBe(0);
  });

  test("never holds more than ten", () => {
    const { reserve, reward } = open({ ...UNTIMED });
    times(1_000, () => reward("shop"));
    times(10, () => reserve());
    expect(reserve()).toBeUndefined();
  });

  test("is per service", () => {
    const { reserve } = open();
    times(10, () => reserve());
    expect(reserve("mail")).toBe(0);
  });

  test("is what the option says, or none at all", () => {
    const own = open({ budget: { tokens: 2, perSecond: 10 } });
    expect([own.reserve(), own.reserve(), own.reserve()]).toEqual([0, 0, 100]);
    const none = open({ budget: false });
    times(10_000, () => none.reserve());
    expect(none.reserve()).toBe(0);
  });

  test.each([
    ["tokens", 0],
    ["perSecond", -1],
    ["perSuccess", Number.NaN],
  ])("an impossible %s is refused", (name, value) => {
    expect(() => budgetOf({ budget: { [name]: value } })).toThrow(`retry.budget.${name}`);
  });
});
