import { describe, expect, test } from "vitest";
import { createBudgets } from "../../src/engine/pace.ts";

const times = (count: number, work: () => void) => {
  for (let index = 0; index < count; index += 1) work();
};

describe("a retry budget", () => {
  test("is ten resends", () => {
    const budgets = createBudgets();
    times(9, () => budgets.take("shop"));
    expect(budgets.has("shop")).toBe(true);
    budgets.take("shop");
    expect(budgets.has("shop")).toBe(false);
  });

  test("ten successes give one back, and nine do not", () => {
    const budgets = createBudgets();
    times(10, () => budgets.take("shop"));
    times(9, () => budgets.giveBack("shop"));
    expect(budgets.has("shop")).toBe(false);
    budgets.giveBack("shop");
    expect(budgets.has("shop")).toBe(true);
  });

  test("never holds more than ten", () => {
    const budgets = createBudgets();
    times(1_000, () => budgets.giveBack("shop"));
    times(10, () => budgets.take("shop"));
    expect(budgets.has("shop")).toBe(false);
  });

  test("is per service", () => {
    const budgets = createBudgets();
    times(10, () => budgets.take("shop"));
    expect(budgets.has("mail")).toBe(true);
  });
});
