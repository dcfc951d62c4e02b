import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../../src/errors.ts";
import {
  checkAgain,
  checkAlias,
  checkApp,
  checkCallerKey,
  checkNote,
  checkPerson,
  checkResource,
  checkRetry,
  checkScope,
  checkStep,
  checkTenant,
  checkToolName,
} from "../../src/key/check-name.ts";

describe.each([
  ["app", checkApp, 128],
  ["tenant", checkTenant, 128],
  ["scope", checkScope, 512],
  ["name", checkToolName, 128],
  ["key", checkCallerKey, 255],
  ["by", checkPerson, 128],
  ["resource", checkResource, 512],
  ["retry", checkRetry, 256],
  ["again", checkAgain, 256],
  ["step", checkStep, 256],
  ["alias", checkAlias, 256],
] as const)("%s", (path, check, longest) => {
  test.each([
    "a",
    "conversation-7/turn-3",
    "with inner  spaces",
    "Ünïcödé \u{1f600} 日本",
    "e\u0301",
    "0",
    "__proto__",
    "a\u0085b",
  ])("%j is taken and given back unchanged", (value) => {
    expect(check(value)).toBe(value);
  });

  test(`${longest} characters pass, one more does not, and nothing is cut`, () => {
    expect(check("x".repeat(longest))).toHaveLength(longest);
    expect(() => check("x".repeat(longest + 1))).toThrow(`${longest} characters`);
  });

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a number", 7],
    ["a boxed string", Object("a")],
    ["an array", ["a"]],
    ["the empty string", ""],
    ["blanks", "   "],
    ["leading white space", " a"],
    ["trailing white space", "a "],
    ["a trailing no-break space", "a\u00a0"],
    ["a leading byte order mark", "\ufeffa"],
    ["a trailing line separator", "a\u2028"],
    ["a line feed", "a\nb"],
    ["a carriage return", "a\rb"],
    ["a tab", "a\tb"],
    ["NUL", "a\0b"],
    ["the separator of scopes", "a\u001fb"],
    ["the mark of operations", "\u001eop"],
    ["DEL", "a\u007fb"],
    ["a lone high surrogate", "a\ud800"],
    ["a lone low surrogate", "\udc00a"],
    ["a megabyte of blanks and one letter", `${" ".repeat(1_000_000)}a`],
  ])("%s is refused under its own name", (_what, value) => {
    const refused = (): unknown => check(value);
    expect(refused).toThrow(InvalidInputError);
    expect(refused).toThrow(new RegExp(`^${path}: `));
  });
});

test("a control character is refused wherever it stands", () => {
  for (let code = 0; code < 0x20; code += 1) {
    expect(() => checkScope(`a${String.fromCharCode(code)}b`)).toThrow(InvalidInputError);
  }
});

describe("note", () => {
  test.each([undefined, "", " two\nlines\t", "x".repeat(2_000)])("%j is taken", (note) => {
    expect(() => checkNote(note)).not.toThrow();
  });

  test.each([null, 7, ["a"], Object("a")])("%j is refused, since it is no text", (note) => {
    expect(() => checkNote(note)).toThrow(InvalidInputError);
    expect(() => checkNote(note)).toThrow("note: must be a string.");
  });

  test("2000 characters pass, and one more does not", () => {
    expect(() => checkNote("x".repeat(2_001))).toThrow(InvalidInputError);
    expect(() => checkNote("x".repeat(2_001))).toThrow("note: must not be longer than 2000");
  });
});
