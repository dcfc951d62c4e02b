/** The statistics of `npm run bench`: medians, ratios of medians, and whether a goal is reached. */
import { describe, expect, test } from "vitest";
import {
  type Figures,
  ratioOf,
  type Series,
  shown,
  spreadOf,
  spreadText,
  stallMs,
} from "../../bench/suite/figures.ts";
import { goalsTable, judge } from "../../bench/suite/goals.ts";
import { groupOf } from "../../bench/suite/groups.ts";
import { doubts } from "../../bench/suite/machine.ts";
import { msFor, optionsFrom } from "../../bench/suite/options.ts";
import { needsOf, planTable } from "../../bench/suite/plan.ts";
import { compare, markdownOf, tableOf, textOf } from "../../bench/suite/rows.ts";

const callsOf = (name: string, perSecond: readonly number[], fault?: string): Series => ({
  group: "memory",
  name,
  at: "1 caller",
  rounds: { perSecond },
  fault,
});
const figuresOf = (...series: readonly Series[]): Figures => ({ series, notRun: [] });

describe("a figure", () => {
  test("is the median of its rounds, with the lowest and the highest", () => {
    expect(spreadOf([5, 1, 3, 2, 4])).toEqual({ median: 3, low: 1, high: 5 });
    expect(spreadOf([])).toBeUndefined();
  });

  test("is told with three digits, and without a spread if it is one alone", () => {
    expect([0.01234, 0.567, 5.678, 56.78, 567.8, 5_678].map(shown)).toEqual([
      ...["0.012", "0.57", "5.68", "56.8", "568", "5,678"],
    ]);
    expect(spreadText(spreadOf([2, 1, 4]))).toBe("2.00 (1.00..4.00)");
    expect(spreadText(spreadOf([2]))).toBe("2.00");
    expect(spreadText(undefined)).toBe("–");
  });

  test("of a loop that never turned is the whole time", () => {
    const measured = { perSecond: 10, p50Us: 0, p99Us: 0, loopP99Ms: 0, calls: 5, cpuUs: 0 };
    expect(stallMs({ ...measured, loopMaxMs: 7 })).toBe(7);
    expect(stallMs({ ...measured, loopMaxMs: 0 })).toBe(500);
  });
});

describe("a ratio", () => {
  test("is that of the medians, and its spread that of single rounds", () => {
    // The ratio of each round is 2, 1 and 5; the median of them is not the ratio of the medians.
    expect(ratioOf([4, 10, 20], [2, 10, 4])).toEqual({ median: 2.5, low: 1, high: 5 });
  });

  test("needs both sides", () => {
    expect(ratioOf([], [1])).toBeUndefined();
    expect(ratioOf([1], [])).toBeUndefined();
  });

  test("divides holdfire by the row, or the row by its base, as the group says", () => {
    const memory = groupOf("memory");
    const growth = groupOf("growth");
    if (!memory || !growth) throw new Error("The groups are there.");
    const [own, peer] = [callsOf("holdfire", [20]), callsOf("p-retry", [10])];
    expect(compare(peer, memory, figuresOf(own, peer))?.median).toBe(2);
    expect(compare(own, memory, figuresOf(own, peer))).toBeUndefined();
    const row = (name: string, p50Us: number): Series => ({
      ...{ group: "growth", name, at: "claim", rounds: { p50Us: [p50Us] } },
    });
    const [small, large] = [row("10,000 rows", 10), row("250,000 rows", 15)];
    expect(compare(large, growth, figuresOf(small, large))?.median).toBe(1.5);
  });
});

describe("a goal", () => {
  const goal = {
    what: "as fast as p-retry",
    measure: "perSecond",
    of: ["memory", "holdfire", "1 caller"],
    over: ["memory", "p-retry", "1 caller"],
    atLeast: 1,
  } as const;
  const judged = (own: number) =>
    judge(goal, figuresOf(callsOf("holdfire", [own]), callsOf("p-retry", [10]))).verdict;

  test("is reached from its limit on, not below it", () => {
    expect([9.9, 10, 11].map(judged)).toEqual(["not reached", "reached", "reached"]);
  });

  test("at most so much is reached up to its limit", () => {
    const most = { ...goal, over: undefined, atLeast: undefined, atMost: 10 };
    const verdict = (own: number) => judge(most, figuresOf(callsOf("holdfire", [own]))).verdict;
    expect([10, 10.1].map(verdict)).toEqual(["reached", "not reached"]);
  });

  test("is not run where one side is missing, and never taken for reached", () => {
    const missing = judge(goal, figuresOf(callsOf("holdfire", [11])));
    expect(missing.verdict).toBe("not run");
    expect(goalsTable([missing]).rows).toEqual([["as fast as p-retry", "≥ 1", "–", "not run"]]);
  });
});

describe("a table", () => {
  const memory = groupOf("memory");
  if (!memory) throw new Error("The group is there.");

  test("marks a peer that ran the function twice", () => {
    const twice = callsOf("p-retry", [10], "3 ran TWICE of 10");
    const table = tableOf(memory, figuresOf(twice, callsOf("holdfire", [5])));
    expect(table.rows.map((row) => row.at(-1))).toEqual(["3 ran TWICE of 10", "right"]);
    expect(textOf(table)).toContain("3 ran TWICE");
  });

  test("says what was not run, and why", () => {
    const notRun = [{ group: "memory", name: "cockatiel", why: "there is none\nat all" }];
    const table = tableOf(memory, { series: [callsOf("holdfire", [5])], notRun });
    expect(markdownOf(table)).toContain("not run: there is none ");
  });
});

describe("the plan", () => {
  const sized = (cpuUs: number, serverCpuUs: number, bytes: number): Figures =>
    figuresOf({
      group: "sizing",
      name: "redis",
      at: "",
      rounds: { cpuUs: [cpuUs], serverCpuUs: [serverCpuUs], bytes: [bytes] },
    });

  test("is the arithmetic of what one call costs, with room to spare", () => {
    // 100,000 calls of 60 µs keep 6 cores busy; 10 cores are then six tenths busy.
    expect(needsOf("redis", sized(60, 30, 1_000))).toEqual({
      ...{ clientCores: 10, serverCores: 5, servers: 5 },
      ...{ bytesADay: 8.64e12, logBytesASecond: undefined },
    });
  });

  test("says where nothing was measured", () => {
    expect(needsOf("postgres", sized(60, 30, 1_000))).toBeUndefined();
    expect(markdownOf(planTable(sized(60, 30, 1_000)))).toContain("not measured");
  });
});

test("a run on a busy machine, or a short one, is doubted aloud", () => {
  const machine = { date: "", node: "", cpu: "", cores: 2, memoryGb: 4, system: "", load: 1 };
  expect(doubts(machine, false)).toEqual([]);
  expect(doubts({ ...machine, load: 9 }, false).join()).toContain("load 9 on 2 cores");
  expect(doubts(machine, true).join()).toContain("short rounds");
});

describe("the command line", () => {
  test("takes groups in the order of the page", () => {
    const read = optionsFrom(["sqlite", "memory", "--rounds", "12"]);
    expect(read).toMatchObject({ groups: ["memory", "sqlite"], rounds: 12 });
  });

  test("says what it does not know, and writes no page from a part", () => {
    expect(() => optionsFrom(["disk"])).toThrow(`There is no group "disk"`);
    expect(() => optionsFrom(["--rounds", "0"])).toThrow("--rounds takes a whole number from 1");
    expect(() => optionsFrom(["memory", "--write-docs"])).toThrow("--write-docs writes the whole");
  });

  test("gives each case more time in a longer run, within limits", () => {
    expect(msFor(5, 9)).toBeLessThan(msFor(10, 9));
    expect(msFor(1, 9)).toBe(60);
    expect(msFor(600, 9)).toBe(500);
  });
});
