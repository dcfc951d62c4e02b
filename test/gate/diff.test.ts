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

  test("text of 80 characters is long; shorter text is one value", () => {
    const [short, long] = ["x".repeat(79), "x".repeat(80)];
    expect(textOf({ type: "create", target: "a", after: short })).toBe(`create a\n+   "${short}"`);
    expect(textOf({ type: "create", target: "a", after: long })).toBe(`create a\n+     ${long}`);
  });

  test("a value that is text itself has no name above its lines", () => {
    expect(update("one\ntwo", "one\n2")).toBe(
      ["update doc/1", "      one", "-     two", "+     2"].join("\n"),
    );
    expect(textOf({ type: "delete", target: "a", before: ["x", 1] })).toBe(
      ["delete a", '-     "x"', "-     1"].join("\n"),
    );
  });

  test("a field that becomes text, or is no text any more, is shown whole on both sides", () => {
    expect(update({ body: "one\ntwo" }, { body: 7 })).toBe(
      ["update doc/1", "-   body:", "-     one", "-     two", "+   body: 7"].join("\n"),
    );
  });

  test("as many lines as possible stay", () => {
    const stays = compareLines([..."xabcdefy"], [..."defzabcdw"]).filter(
      ({ sign }) => sign === " ",
    );
    expect(stays.map(({ line }) => line).join("")).toBe("abcd");
  });

  test("also where they stand at other places, at the beginning and at the end", () => {
    const shown = (before: string, after: string) =>
      compareLines([...before], [...after])
        .map(({ sign, line }) => `${sign}${line}`)
        .join("");
    expect(shown("a", "xay")).toBe("+x a+y");
    expect(shown("xay", "a")).toBe("-x a-y");
    expect(shown("xaby", "abz")).toBe("-x a b-y+z");
    expect(shown("abz", "xaby")).toBe("+x a b-z+y");
    expect(shown("abc", "abc")).toBe(" a b c");
    expect(shown("", "ab")).toBe("+a+b");
  });

  test("no more of them could stay, whatever they are", () => {
    /** How many lines two texts have in common at most, in order, by trying everything. */
    const most = (one: readonly string[], other: readonly string[]): number => {
      const [[a, ...as], [b, ...bs]] = [one, other];
      if (a === undefined || b === undefined) return 0;
      return a === b ? 1 + most(as, bs) : Math.max(most(as, other), most(one, bs));
    };
    let seed = 11;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let round = 0; round < 300; round += 1) {
      const side = () => Array.from({ length: random(8) }, () => "abcd"[random(4)] ?? "");
      const [before, after] = [side(), side()];
      const stays = compareLines(before, after).filter(({ sign }) => sign === " ");
      expect(stays, `${before} and ${after}`).toHaveLength(most(before, after));
    }
  });

  test.each([
    ["near the end", 1_190],
    ["near the beginning", 10],
  ])("one line of a very long text that changes, %s, is one line", (_, at) => {
    const long = Array.from({ length: 1_200 }, (_, n) => `line ${n}`);
    const changes = compareLines(long, long.with(at, "other"));
    expect(changes.filter(({ sign }) => sign !== " ")).toEqual([
      { sign: "-", line: `line ${at}`, beside: "other" },
      { sign: "+", line: "other", beside: `line ${at}` },
    ]);
    expect(changes).toHaveLength(1_201);
  });

  test("500 lines are matched with 500, and with one more they are not", () => {
    const side = (word: string, length: number) =>
      Array.from({ length }, (_, n) => (n === 250 ? "same" : `${word}${n}`));
    const stays = (length: number) =>
      compareLines(side("a", 500), side("b", length)).filter(({ sign }) => sign === " ");
    expect(stays(500)).toEqual([{ sign: " ", line: "same" }]);
    expect(stays(501)).toEqual([]);
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

  const row = (at: number, char: string) => `${"x".repeat(at)}${char}${"x".repeat(299 - at)}`;
  const linesOf = (before: string, after: string) =>
    diffOf([{ type: "update", target: "a", before, after }]).lines.map(({ text }) => text.trim());

  test("40 characters stand before the first difference, and what is cut is counted", () => {
    expect(linesOf(row(90, "o"), row(90, "n"))).toEqual([
      "update a",
      `…${row(90, "o").slice(50, 250)}… (100 characters cut)`,
      `…${row(90, "n").slice(50, 250)}… (100 characters cut)`,
    ]);
  });

  test("a difference near the beginning is shown from the beginning, without a mark before it", () => {
    expect(linesOf(row(40, "o"), row(40, "n"))).toEqual([
      "update a",
      `${row(40, "o").slice(0, 200)}… (100 characters cut)`,
      `${row(40, "n").slice(0, 200)}… (100 characters cut)`,
    ]);
  });

  test("a difference near the end is shown with the last 200 characters", () => {
    expect(linesOf(row(299, "o"), row(299, "n"))).toEqual([
      "update a",
      `…${row(299, "o").slice(100)}… (100 characters cut)`,
      `…${row(299, "n").slice(100)}… (100 characters cut)`,
    ]);
  });

  test("a line that goes on as the other does, until it ends, is shown from the beginning", () => {
    const before = "y".repeat(300);
    expect(linesOf(before, `${before}z`)).toEqual([
      "update a",
      `${"y".repeat(200)}… (100 characters cut)`,
      `…${"y".repeat(199)}z… (101 characters cut)`,
    ]);
  });

  test("a line of 200 characters is whole", () => {
    const diff = diffOf([{ type: "create", target: "a", after: "x".repeat(200) }]);
    expect(diff).toMatchObject({ lines: [{}, { text: `    ${"x".repeat(200)}` }], leftOut: 0 });
    const longer = diffOf([{ type: "create", target: "a", after: "x".repeat(201) }]);
    expect(longer.lines[1]?.text).toBe(`    ${"x".repeat(200)}… (1 characters cut)`);
    expect(longer.leftOut).toBe(1);
  });

  test("a target of 500 characters is whole, and a longer one counts as cut", () => {
    const head = (length: number) => diffOf([{ type: "delete", target: "t".repeat(length) }]);
    expect(head(500).leftOut).toBe(0);
    expect(head(501)).toEqual({
      lines: [{ sign: "#", text: `delete ${"t".repeat(500)}…` }],
      leftOut: 1,
    });
  });

  test("a line that is cut, and does not fit either, counts once", () => {
    const after = [...Array.from({ length: 399 }, (_, at) => at), "x".repeat(500)];
    const diff = diffOf([{ type: "create", target: "a", after }]);
    expect(diff.lines).toHaveLength(400);
    expect(diff.leftOut).toBe(1);
  });
});
