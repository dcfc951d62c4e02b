import { describe, expect, test } from "vitest";
import type { PlannedChange } from "../../src/engine/define/definition.ts";
import { diffOf, diffText } from "../../src/gate/diff.ts";
import { compareLines } from "../../src/gate/line-diff.ts";

const textOf = (...changes: PlannedChange[]): string => diffText(diffOf(changes));
const update = (before: PlannedChange["before"], after: PlannedChange["after"]): string =>
  textOf({ type: "update", target: "doc/1", before, after });

describe("objects are shown by their fields", () => {
  test("what changes, comes and goes, and how much stays", () => {
    const before = { amount: 400, state: { open: true, at: 1 }, old: "x", currency: "EUR" };
    const after = { amount: 500, state: { open: false, at: 1 }, young: [1], currency: "EUR" };
    expect(update(before, after)).toBe(
      [
        "update doc/1",
        "-   amount: 400",
        "+   amount: 500",
        '-   old: "x"',
        "-   state.open: true",
        "+   state.open: false",
        "@   state: 1 unchanged",
        "+   young:",
        "+     1",
        "@   1 unchanged",
      ].join("\n"),
    );
  });

  test("of what is created, and of what is deleted, all", () => {
    expect(textOf({ type: "create", target: "a", after: { n: 1 } })).toBe("create a\n+   n: 1");
    expect(textOf({ type: "delete", target: "a", before: "gone" })).toBe('delete a\n-   "gone"');
    expect(textOf({ type: "delete", target: "a" })).toBe("delete a");
  });

  test("fields of prototypes are fields", () => {
    const odd = JSON.parse('{"__proto__": 1, "constructor": 2}');
    expect(textOf({ type: "create", target: "a", after: odd })).toContain("__proto__: 1");
  });
});

describe("long text and lists are shown line by line", () => {
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`);

  test("with three lines around a change, and a word on what is skipped", () => {
    const after = lines.with(20, "other");
    expect(update({ body: lines.join("\n") }, { body: after.join("\n") })).toBe(
      [
        "update doc/1",
        "    body:",
        "@     17 lines unchanged",
        "      line 17",
        "      line 18",
        "      line 19",
        "-     line 20",
        "+     other",
        "      line 21",
        "      line 22",
        "      line 23",
        "@     16 lines unchanged",
      ].join("\n"),
    );
  });

  test("a line put first into a list is one line", () => {
    const text = update({ tags: ["b", "c"] }, { tags: ["a", "b", "c"] });
    expect(text.split("\n").filter((line) => /^[+-]/.test(line))).toEqual(['+     "a"']);
  });

  test("as many lines as possible stay", () => {
    const stays = compareLines([..."xabcdefy"], [..."defzabcdw"]).filter(
      ({ sign }) => sign === " ",
    );
    expect(stays.map(({ line }) => line).join("")).toBe("abcd");
  });

  test("every line of both sides is there, whatever they are", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    for (let round = 0; round < 200; round += 1) {
      const side = () => Array.from({ length: random(12) }, () => "abc"[random(3)] ?? "");
      const [before, after] = [side(), side()];
      const changes = compareLines(before, after);
      const of = (...signs: string[]) =>
        changes.filter(({ sign }) => signs.includes(sign)).map(({ line }) => line);
      expect(of(" ", "-")).toEqual(before);
      expect(of(" ", "+")).toEqual(after);
    }
  });

  test("too much to match is shown whole, one after the other", () => {
    const many = (word: string) => Array.from({ length: 600 }, (_, at) => `${word}${at % 590}`);
    const changes = compareLines(many("a"), [...many("b"), "a1"]);
    expect(changes.filter(({ sign }) => sign === "-")).toHaveLength(600);
    expect(changes.filter(({ sign }) => sign === "+")).toHaveLength(601);
  });
});

describe("what hides is made visible", () => {
  test.each([
    ["bidi", "\u202e", "\\u{202e}"],
    ["zero width", "\u200b", "\\u{200b}"],
    ["an escape", "\u001b[2K", "\\u{1b}[2K"],
    ["a no-break space", "\u00a0", "\\u{a0}"],
    ["a filler", "\u3164", "\\u{3164}"],
    ["a tag", "\u{e0041}", "\\u{e0041}"],
    ["a joiner of graphemes", "\u034f", "\\u{34f}"],
  ])("%s", (_, hidden, shown) => {
    const text = update({ to: "a" }, { [`na${hidden}me`]: `bank${hidden}`, to: `x${hidden}\ny` });
    const all = `${text}${textOf({ type: "delete", target: `b${hidden}` })}`;
    expect(all).not.toContain(hidden);
    expect(all.split(shown).length).toBeGreaterThanOrEqual(2);
  });

  test("a space at the end of a line", () => {
    const text = update({ body: "one\ntwo" }, { body: "one \ntwo" });
    expect(text).toContain("+     one\\u{20}");
  });
});

describe("the whole is bounded", () => {
  test("lines past the 400th are counted, not shown", () => {
    const after = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f${at}`, at]));
    const diff = diffOf([{ type: "create", target: "a", after }]);
    expect(diff.lines).toHaveLength(400);
    expect(diff.leftOut).toBe(601);
    expect(diffText(diff)).toContain("601 lines are not shown");
  });

  test("a long line is cut where its first difference can be seen", () => {
    const before = "x".repeat(5_000);
    const after = `${"x".repeat(4_000)}EVIL${"x".repeat(996)}`;
    const diff = diffOf([{ type: "update", target: "a", before, after }]);
    const text = diffText(diff);
    expect(text).toContain("EVIL");
    expect(text.length).toBeLessThan(1_000);
    expect(diff.leftOut).toBe(2);
  });
});
