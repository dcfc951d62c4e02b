import fc from "fast-check";
import { expect, test } from "vitest";
import { isPlainText } from "../../src/key/plain-text.ts";

/** ASCII that JSON writes as it is, and that is printable. */
const isPlain = (text: string): boolean =>
  JSON.stringify(text) === `"${text}"` && [...text].every((one) => one >= " " && one <= "~");

test("each character is judged alike in a short text and in a long one", () => {
  for (let code = 0; code < 0x400; code += 1) {
    const character = String.fromCharCode(code);
    const expected = isPlain(character);
    expect(isPlainText(character)).toBe(expected);
    for (const length of [19, 20, 21, 200]) {
      expect(isPlainText("x".repeat(length - 1) + character)).toBe(expected);
      expect(isPlainText(character + "x".repeat(length - 1))).toBe(expected);
    }
  }
});

test("any text is plain if each of its characters is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
      expect(isPlainText(text)).toBe(isPlain(text));
    }),
    { seed: 20, numRuns: 500 },
  );
  expect(isPlainText("")).toBe(true);
});
