import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { beginning, digestFrom, digestText } from "../../src/key/digest.ts";

test("it is SHA-256 over the versioned domain and the parts, each with its length in bytes", () => {
  const framed = "17:holdfire/1/things1:a2:é-0:";
  const expected = createHash("sha256").update(framed, "utf8").digest("base64url");
  expect(digestText("things", "a", "é", undefined, "")).toBe(expected);
});

test("the length of any part is that of its bytes in UTF-8", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({ unit: "binary-ascii", maxLength: 60 }),
    fc.constantFrom("\u007f", "\u0080", "x".repeat(24), "x".repeat(25), `${"x".repeat(23)}é`),
  );
  fc.assert(
    fc.property(part, (text) => {
      const framed = Buffer.from(`12:holdfire/1/d${Buffer.from(text).length}:${text}`, "utf8");
      expect(digestText("d", text)).toBe(createHash("sha256").update(framed).digest("base64url"));
    }),
    { seed: 257, numRuns: 500 },
  );
});

test("parts that many digests begin with may be given beforehand", () => {
  const whole = digestText("d", "é", undefined, "b", "c");
  expect(digestFrom(beginning("d"), "é", undefined, "b", "c")).toBe(whole);
  expect(digestFrom(beginning("d", "é", undefined), "b", "c")).toBe(whole);
  expect(digestFrom(beginning("d", "é", undefined, "b", "c"))).toBe(whole);
});

test("text is 43 characters that need no escaping anywhere", () => {
  expect(digestText("d", "x")).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test.each([
  [
    ["a", "bc"],
    ["ab", "c"],
  ],
  [["ab"], ["a", "b"]],
  [["a", ""], ["a"]],
  [
    ["", "a"],
    ["a", ""],
  ],
  [["1:a"], ["a"]],
  [["a1:b"], ["a", "b"]],
  [[], [""]],
  [[undefined], [""]],
  [[undefined], ["-"]],
  [[undefined], []],
  [
    [undefined, "a"],
    ["a", undefined],
  ],
  [["-1:a"], [undefined, "a"]],
])("the parts %j and %j have different digests", (one, other) => {
  expect(digestText("d", ...one)).not.toBe(digestText("d", ...other));
});

test("domains do not meet, whatever the parts", () => {
  expect(digestText("a", "b")).not.toBe(digestText("b", "b"));
  expect(digestText("ab")).not.toBe(digestText("a", "b"));
});

test("two lists of parts have the same digest only if they are equal", () => {
  const part = fc.oneof(
    fc.constantFrom("", "-", ":", "0:", "1:", "1:a", "a", "é"),
    fc.string({ unit: "binary", maxLength: 4 }),
  );
  const parts = fc.array(fc.option(part, { nil: undefined }), { maxLength: 4 });
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      const equal = one.length === other.length && one.every((value, i) => value === other[i]);
      expect(digestText("d", ...one) === digestText("d", ...other)).toBe(equal);
    }),
    { seed: 256, numRuns: 500 },
  );
});

test("a large part is taken whole", () => {
  const large = "x".repeat(1_000_000);
  expect(digestText("d", `${large}a`)).not.toBe(digestText("d", `${large}b`));
});
