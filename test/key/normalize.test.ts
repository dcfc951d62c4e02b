import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalize } from "../../src/key/canonical.ts";
import { normalizeIntent, normalizeText } from "../../src/key/normalize.ts";

describe("normalizeText", () => {
  test.each([
    ["  a  b\t\nc ", "a b c"],
    ["a", "a"],
    ["", ""],
    [" \n ", ""],
    ["a\u00a0\u2003b\ufeff", "a b"],
    ["a\u200bb", "a\u200bb"],
  ])("%j becomes %j", (given, expected) => {
    expect(normalizeText(given)).toBe(expected);
  });

  test("doing it twice changes nothing more, and no word is lost", () => {
    const text = fc.string({ unit: fc.constantFrom(" ", "\n", "\t", "a", "é", "\u3000") });
    fc.assert(
      fc.property(text, (given) => {
        const once = normalizeText(given);
        expect(normalizeText(once)).toBe(once);
        expect(once.replaceAll(" ", "")).toBe(given.replace(/\s/g, ""));
      }),
      { seed: 3, numRuns: 500 },
    );
  });

  test("100 KB of white space, with and without an end, are worked through", () => {
    const blank = " ".repeat(100_000);
    expect(normalizeText(blank)).toBe("");
    expect(normalizeText(`${blank}a${blank}b`)).toBe("a b");
    expect(normalizeText(" a".repeat(50_000))).toHaveLength(99_999);
  });
});

describe("normalizeIntent", () => {
  test("only the named top-level strings change", () => {
    const intent = { reason: " a  b ", other: " c ", nested: { reason: " d " }, count: 1 };
    expect(normalizeIntent(intent, ["reason", "nested", "count", "missing"])).toEqual({
      reason: "a b",
      other: " c ",
      nested: { reason: " d " },
      count: 1,
    });
    expect(intent.reason).toBe(" a  b ");
  });

  test("without named fields it is the very intent that was given", () => {
    const intent = { reason: " a  b " };
    expect(normalizeIntent(intent, [])).toBe(intent);
  });

  test("the result is frozen and makes equal intents equal", () => {
    const one = normalizeIntent(canonicalize({ b: 1, a: "x  y" }, "intent").value, ["a"]);
    const other = normalizeIntent(canonicalize({ a: " x y", b: 1 }, "intent").value, ["a"]);
    expect(Object.isFrozen(one)).toBe(true);
    expect(canonicalize(one, "intent").text).toBe(canonicalize(other, "intent").text);
  });

  test.each([[null], ["  text  "], [1], [[" a "]]])("%j has no fields and stays", (intent) => {
    expect(normalizeIntent(intent, ["0", "length"])).toEqual(intent);
  });

  test("a field called __proto__ is a field like others", () => {
    const { value } = canonicalize(JSON.parse('{"__proto__":" a  b "}'), "intent");
    const result = normalizeIntent(value, ["__proto__"]);
    expect(JSON.stringify(result)).toBe('{"__proto__":"a b"}');
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  });
});
