import { describe, expect, test } from "vitest";
import { checkOptions } from "../../src/engine/define/check.ts";
import { attemptsOf, timingOf } from "../../src/engine/define/settings.ts";
import { InvalidInputError } from "../../src/errors.ts";

describe("timing", () => {
  test("has defaults", () => {
    expect(timingOf()).toEqual({
      minDelayMs: 250,
      maxDelayMs: 8_000,
      spacingMs: 100,
      leaseMs: 5_000,
      cooldownMs: 30_000,
      storeTimeoutMs: 5_000,
      drainMs: 10_000,
    });
  });

  test("takes what is given", () => {
    expect(timingOf({ minDelayMs: 1, maxDelayMs: 2, leaseMs: 3 })).toMatchObject({
      minDelayMs: 1,
      maxDelayMs: 2,
      leaseMs: 3,
    });
  });

  test.each([
    [{ minDelay: 1 }, "retry.minDelay"],
    [{ minDelayMs: 0 }, "retry.minDelayMs"],
    [{ minDelayMs: -1 }, "retry.minDelayMs"],
    [{ maxDelayMs: Number.NaN }, "retry.maxDelayMs"],
    [{ maxDelayMs: 100 }, "retry.maxDelayMs"],
    [{ leaseMs: 0 }, "retry.leaseMs"],
    [{ cooldownMs: Number.POSITIVE_INFINITY }, "retry.cooldownMs"],
    [{ storeTimeoutMs: 2 ** 31 }, "retry.storeTimeoutMs"],
    [{ drainMs: "1" }, "retry.drainMs"],
  ])("refuses %j", (retry, path) => {
    expect(() => timingOf(retry as object)).toThrow(InvalidInputError);
    expect(() => timingOf(retry as object)).toThrow(path);
  });
});

describe("attempts of a whole holdfire", () => {
  test("are a whole number from 1, or left to the tools", () => {
    expect(attemptsOf()).toBeUndefined();
    expect(attemptsOf({ attempts: 5 })).toBe(5);
    expect(() => attemptsOf({ attempts: 0 })).toThrow("retry.attempts");
  });
});

describe("options", () => {
  test("a misspelt one is an error, not a default", () => {
    expect(() => checkOptions({ scpoe: "s" }, ["scope"], "options")).toThrow("options.scpoe");
    expect(() => checkOptions({ scope: "s" }, ["scope"], "options")).not.toThrow();
  });

  test.each([null, undefined, "s", 1])("%j are none", (options) => {
    expect(() => checkOptions(options as never, [], "options")).toThrow(InvalidInputError);
  });
});
