/** The gate of the battery: holdfire must pass its cells, and none of them may prove nothing. */
import { expect, test } from "vitest";
import type { Score } from "../../bench/battery/judge.ts";
import { gate } from "../../bench/battery/report/gate.ts";
import type { Cell, Matrix } from "../../bench/battery/report/matrix.ts";
import { pageOf } from "../../bench/battery/report/page.ts";
import { drawMatrix } from "../../bench/battery/report/picture.ts";
import { markdownOf } from "../../bench/battery/report/scorecard.ts";
import { totalsOf } from "../../bench/battery/report/totals.ts";
import type { Storm } from "../../bench/storm-processes/storm.ts";

const CLEAN: Score = {
  duplicates: 0,
  silentLosses: 0,
  untrueWords: 0,
  falseDedupes: 0,
  wantedNotDone: 0,
  leftUnknown: 0,
  extraSends: 0,
  arrivals: 1,
  effects: 1,
  answerMs: 5,
};

const cell = (parts: Partial<Cell>): Cell => ({
  stack: "sqlite",
  fault: "reply_lost",
  toolClass: "keyed",
  verdict: "ok",
  rounds: 1,
  score: CLEAN,
  ...parts,
});

const matrix = (...cells: readonly Cell[]): Matrix => ({
  date: "2026-01-01",
  version: "0.0.0",
  runtime: "Node",
  seeds: [1],
  seconds: 1,
  isFull: false,
  columns: [
    { id: "p_retry", name: "fetch in p-retry", says: "", isHoldfire: false, versions: [] },
    { id: "sqlite", name: "holdfire, sqlite", says: "", isHoldfire: true, versions: [] },
  ],
  classes: ["keyed", "neither"],
  rows: [{ id: "reply_lost", name: "a <lost> reply", group: "network" }],
  cells,
  notBuilt: [],
});

const failuresOf = (parts: Partial<Cell>): readonly string[] => gate(matrix(cell(parts))).failures;
const scored = (score: Partial<Score>): Partial<Cell> => ({ score: { ...CLEAN, ...score } });

test("a clean cell, an open one and one with nothing to ask pass", () => {
  expect(gate(matrix(cell({}), cell(scored({ leftUnknown: 1 }))))).toMatchObject({ isOk: true });
  expect(failuresOf({ verdict: "not_applicable", score: undefined })).toEqual([]);
});

test.each<[Partial<Score>, string]>([
  [{ duplicates: 1 }, "1 duplicates"],
  [{ silentLosses: 1 }, "1 lost"],
  [{ untrueWords: 1 }, "1 untrue words"],
  [{ falseDedupes: 1 }, "1 false dedupes"],
  [{ wantedNotDone: 1 }, "1 not done"],
])("%o of a keyed tool fails", (score, words) => {
  expect(failuresOf(scored(score))).toEqual([`reply_lost, keyed, sqlite: ${words}`]);
});

test("a tool that is neither may leave a wish undone, and may not send it twice", () => {
  const neither = { toolClass: "neither" } as const;
  expect(failuresOf({ ...neither, ...scored({ wantedNotDone: 1 }) })).toEqual([]);
  expect(failuresOf({ ...neither, ...scored({ extraSends: 1 }) })).toHaveLength(1);
});

test("a void cell of holdfire fails; what others do does not", () => {
  const nothing = { verdict: "void", score: undefined, why: "not met" } as const;
  expect(failuresOf(nothing)).toEqual(["reply_lost, keyed, sqlite: void: not met"]);
  const others = { stack: "p_retry", ...scored({ duplicates: 9 }) } as const;
  expect(gate(matrix(cell(others), cell({ ...nothing, stack: "p_retry" }))).isOk).toBe(true);
});

test("the sums leave out the liar, and the picture escapes what it shows", () => {
  const liar = cell({ toolClass: "liar", ...scored({ silentLosses: 1 }) });
  const [, own] = totalsOf(matrix(cell(scored({ arrivals: 3 })), liar));
  expect(own).toMatchObject({ judged: 1, attemptsPerEffect: 3, score: { silentLosses: 0 } });
  expect(drawMatrix(matrix(cell({})))).toContain("a &lt;lost&gt; reply");
});

test("both pages have the sums, and the one for the docs the storm's figures where it was run", () => {
  const one = matrix(cell(scored({ duplicates: 7, arrivals: 3, effects: 2 })));
  expect(pageOf(one)).toContain("<td>holdfire, sqlite</td><td>7</td>");
  expect(markdownOf(one)).toMatch(/\| holdfire, sqlite \| 7 .*\| 1\.50 /);
  expect(markdownOf(one)).not.toContain("Killed processes");
  const storm: Storm = {
    ...{ stack: "redis", score: { ...CLEAN, effects: 10_000 }, attemptsPerEffect: 1.1021 },
    ...{ answers: 20_000, faults: {}, reads: 9, kills: 193, cutOff: 1_464, leftOpen: 43 },
    ...{ wrong: [], seconds: 361 },
  };
  expect(markdownOf({ ...one, storms: [storm] })).toMatch(
    /\| redis \| 10000 .*\| 1\.102 .*\| 193 .*\| 1464 .*\| 43 /,
  );
});
