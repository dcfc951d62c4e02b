import { describe, expect, test } from "vitest";
import { jsonText, visible } from "../../src/key/escape-hidden.ts";

const ORDINARY = "Grüße, 你好 \u{1f600} e\u0301 ~!\"'\\";

describe("visible", () => {
  test.each([
    ["an escape character", "\u001b"],
    ["NUL", "\0"],
    ["a control of the upper half", "\u009b"],
    ["a soft hyphen", "\u00ad"],
    ["a zero-width space", "\u200b"],
    ["text that runs from right to left", "\u202e"],
    ["a byte order mark", "\ufeff"],
    ["a tag", "\u{e0041}"],
    ["a lone surrogate", "\ud800"],
    ["a line separator", "\u2028"],
    ["a paragraph separator", "\u2029"],
    ["a filler of Hangul", "\u115f"],
    ["another", "\u1160"],
    ["a third", "\u3164"],
    ["one of half the width", "\uffa0"],
    ["an empty Braille cell", "\u2800"],
    ["a no-break space", "\u00a0"],
    ["an ideographic space", "\u3000"],
    ["a grapheme joiner", "\u034f"],
    ["an inherent vowel of Khmer", "\u17b4"],
    ["another one", "\u17b5"],
    ["the first selector of Mongolian", "\u180b"],
    ["the last one", "\u180f"],
    ["the first variation selector", "\ufe00"],
    ["the sixteenth", "\ufe0f"],
    ["the seventeenth", "\u{e0100}"],
    ["the last variation selector", "\u{e01ef}"],
  ])("%s is written as its code, wherever it stands", (_name, hidden) => {
    const code = `\\u{${hidden.codePointAt(0)?.toString(16)}}`;
    expect(visible(`${hidden}a${hidden}${hidden} b`)).toBe(`${code}a${code}${code} b`);
  });

  test("line breaks and tabs have their short form", () => {
    expect(visible("a\nb\r\n\tc")).toBe(String.raw`a\nb\r\n\tc`);
  });

  test("what a person can read stays as it is, spaces included", () => {
    expect(visible(`  ${ORDINARY}  `)).toBe(`  ${ORDINARY}  `);
    expect(visible("")).toBe("");
  });

  test("500 characters are shown, and of more the first 500", () => {
    expect(visible("x".repeat(500))).toBe("x".repeat(500));
    expect(visible(`${"x".repeat(500)}y`)).toBe(`${"x".repeat(500)}…`);
  });

  test("the length may be given, and counts what was there before it was escaped", () => {
    expect(visible("\n\nb", 3)).toBe(String.raw`\n\nb`);
    expect(visible("\n\nbc", 3)).toBe(String.raw`\n\nb…`);
  });

  test("half of a character that was cut is written as its code", () => {
    expect(visible("a\u{1f600}", 2)).toBe("a\\u{d83d}…");
  });
});

describe("jsonText", () => {
  test("it is indented by two spaces, or as asked for, and its line breaks stay", () => {
    expect(jsonText({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(jsonText({ a: [1] }, 0)).toBe('{"a":[1]}');
  });

  test("hidden characters are JSON's own escapes, so that it parses to the same value", () => {
    const value = { "a\u202eb": "\u00a0\u009b\u{e0041}\ud800\n\u001b" };
    const text = jsonText(value, 0);
    expect(text).toBe(String.raw`{"a\u202eb":"\u00a0\u009b\udb40\udc41\ud800\n\u001b"}`);
    expect(JSON.parse(text)).toEqual(value);
  });

  test("what a person can read stays as it is", () => {
    expect(jsonText([ORDINARY], 0)).toBe(JSON.stringify([ORDINARY]));
  });
});
