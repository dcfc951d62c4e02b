/**
 * The table of `npm run bench:call`: per store and number of callers, one line per case.
 *
 * @module
 */

import { type Measured, median, spread } from "../stores/measure.ts";
import { HOLDFIRE } from "./cases.ts";
import type { Ran } from "./child.ts";
import type { CaseResult } from "./measure-cases.ts";

const HEAD = [
  "µs a call",
  "× holdfire",
  "CPU µs",
  "× holdfire",
  "p99 µs",
  "KB",
  "again µs",
  "CPU µs",
  "ran",
];

/** Time that passes per call: with a hundred callers, that of a hundred calls shared by them. */
const timesOf = (all: readonly Measured[]): number[] => all.map(({ perSecond }) => 1e6 / perSecond);

const cpuOf = (all: readonly Measured[]): number[] => all.map(({ cpuUs }) => cpuUs);

export function tableOf(results: readonly CaseResult[]): string {
  const titles = new Set(results.map(titleOf));
  return [...titles]
    .map((title) => [title, results.filter((one) => titleOf(one) === title)] as const)
    .map(([title, cases]) => sectionOf(title, cases))
    .join("\n\n");
}

const titleOf = ({ group, callers }: CaseResult): string =>
  `${group}, ${callers} ${callers === 1 ? "caller" : "callers"}`;

function sectionOf(title: string, cases: readonly CaseResult[]): string {
  const own = cases.find(({ name }) => name === HOLDFIRE);
  const rows = [[title, ...HEAD], ...cases.map((one) => rowOf(one, own))];
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, at) =>
          at === 0 ? cell.padEnd(widths?.[at] ?? 0) : cell.padStart(widths?.[at] ?? 0),
        )
        .join("  "),
    )
    .join("\n");
}

function rowOf(one: CaseResult, own: CaseResult | undefined): string[] {
  const digits = median(timesOf(one.first)) < 10 ? 2 : 0;
  const shown = (values: readonly number[]) => median(values).toFixed(digits);
  const beside = (of: (all: readonly Measured[]) => number[]) =>
    own ? ratioOf(of(one.first), of(own.first)) : "";
  const runsAgain = one.ranAgain > 0;
  return [
    one.name,
    spread(timesOf(one.first), digits),
    beside(timesOf),
    shown(cpuOf(one.first)),
    beside(cpuOf),
    shown(one.first.map(({ p99Us }) => p99Us)),
    median(one.allocatedKb).toFixed(1),
    runsAgain ? "runs again" : shown(timesOf(one.again)),
    runsAgain ? "" : shown(cpuOf(one.again)),
    ranWords(one.ran),
  ];
}

/** The ratio of the medians, and how far the ratio of single rounds went. */
function ratioOf(times: readonly number[], own: readonly number[]): string {
  const each = times.map((time, round) => time / (own[round] ?? Number.NaN));
  const [low, high] = [Math.min(...each), Math.max(...each)];
  return `${(median(times) / median(own)).toFixed(2)} (${low.toFixed(2)}..${high.toFixed(2)})`;
}

export function ranWords(rounds: readonly Ran[]): string {
  const sum = (key: keyof Ran) => rounds.reduce((all, round) => all + round[key], 0);
  const faults = [
    [sum("twice"), "ran TWICE"],
    [sum("never"), "NEVER ran"],
    [sum("wrongReceipts"), "WRONG receipt"],
  ] as const;
  const found = faults.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return found.length === 0 ? `${sum("asked")} once` : `${found.join(", ")} of ${sum("asked")}`;
}

/** Whether each new call ran its function once and got its own receipt. */
export const isSound = ({ ran }: CaseResult): boolean =>
  ran.every(({ twice, never, wrongReceipts }) => twice + never + wrongReceipts === 0);
