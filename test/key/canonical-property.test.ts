import oracle from "canonicalize";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../../src/errors.ts";
import { canonicalize } from "../../src/key/canonical.ts";

const RUNS = { seed: 8785, numRuns: 1_000 };

const ascii = fc.jsonValue({ maxDepth: 6, stringUnit: "binary-ascii" });
const unicode = fc.jsonValue({ maxDepth: 6, stringUnit: "binary" });

/** The value with all strings and keys in NFC, or `undefined` if two keys become one. */
function toNfc(value: unknown): unknown {
  if (typeof value === "string") return value.normalize("NFC");
  if (Array.isArray(value)) {
    const items = value.map(toNfc);
    return items.includes(undefined) ? undefined : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([k, v]) => [k.normalize("NFC"), toNfc(v)] as const);
  const names = new Set(entries.map(([name]) => name));
  if (names.size < entries.length || entries.some(([, v]) => v === undefined)) return undefined;
  return Object.fromEntries(entries);
}

/** The same value with the keys of every object the other way round. */
function backwards(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(backwards);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, backwards(inner)] as const);
  return Object.fromEntries(entries.reverse());
}

const textOf = (value: unknown): string => canonicalize(value, "intent").text;

describe("against an independent implementation of RFC 8785", () => {
  test("ASCII values have the text it gives", () => {
    fc.assert(
      fc.property(ascii, (value) => {
        expect(textOf(value)).toBe(oracle(value));
      }),
      RUNS,
    );
  });

  test("all other values have the text it gives for their NFC form", () => {
    fc.assert(
      fc.property(unicode, (value) => {
        const expected = toNfc(value);
        if (expected === undefined) {
          expect(() => textOf(value)).toThrow(InvalidInputError);
        } else {
          expect(textOf(value)).toBe(oracle(expected));
        }
      }),
      RUNS,
    );
  });

  test("all doubles are written as it writes them", () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(number, (value) => {
        expect(textOf(value)).toBe(oracle(value));
      }),
      RUNS,
    );
  });
});

describe("always", () => {
  test("the text parses back to the copy, and is its own canonical text", () => {
    fc.assert(
      fc.property(ascii, (value) => {
        const first = canonicalize(value, "intent");
        const parsed: unknown = JSON.parse(first.text);
        expect(parsed).toStrictEqual(first.value);
        expect(textOf(parsed)).toBe(first.text);
        expect(textOf(first.value)).toBe(first.text);
      }),
      RUNS,
    );
  });

  test("the order of keys makes no difference", () => {
    fc.assert(
      fc.property(ascii, (value) => {
        expect(textOf(backwards(value))).toBe(textOf(value));
      }),
      RUNS,
    );
  });

  test("whatever it is given, it returns or throws InvalidInputError", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withObjectString: true,
      withBoxedValues: true,
      withSparseArray: true,
      withTypedArray: true,
      stringUnit: "binary",
    });
    fc.assert(
      fc.property(anything, (value) => {
        try {
          const { text, value: copy } = canonicalize(value, "intent");
          expect(JSON.parse(text)).toStrictEqual(JSON.parse(canonicalize(copy, "intent").text));
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidInputError);
        }
      }),
      RUNS,
    );
  });
});
