import { describe, expect, test } from "vitest";
import { backoff } from "../../src/engine/backoff.ts";

const OPTIONS = { minDelayMs: 250, maxDelayMs: 8_000, spacingMs: 100 };
const wait = (turn: number, random: number, retryAfterMs?: number) =>
  backoff(turn, retryAfterMs, OPTIONS, () => random);

describe("the pause before the next pass", () => {
  test.each([
    [0, 250],
    [1, 500],
    [2, 1_000],
    [5, 8_000],
    [6, 8_000],
    [1_000, 8_000],
    [Number.MAX_SAFE_INTEGER, 8_000],
  ])("is random below a ceiling that doubles: turn %i, ceiling %i", (turn, ceiling) => {
    expect(wait(turn, 1 - Number.EPSILON)).toBeCloseTo(ceiling, 5);
    expect(wait(turn, 0.5)).toBe(Math.max(ceiling / 2, 100));
  });

  test("is never shorter than the spacing", () => {
    expect(wait(0, 0)).toBe(100);
    expect(wait(9, 0)).toBe(100);
  });

  test("is what the service asked for, if that is more than the spacing", () => {
    expect(wait(0, 0.5, 5_000)).toBe(5_000);
    expect(wait(7, 0.5, 60_000)).toBe(60_000);
    expect(wait(0, 0.5, 0)).toBe(100);
    expect(wait(0, 0.5, 99)).toBe(100);
  });
});
