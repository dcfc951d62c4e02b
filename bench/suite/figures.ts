/**
 * What a run has measured: series of figures, one figure for each round, and how two series are compared.
 *
 * @module
 */

import { type Measured, median } from "../stores/measure.ts";

/** What is measured of a series. The unit is in the name; calls and trips have none. */
export type Measure =
  | "perSecond"
  | "p50Us"
  | "p99Us"
  | "cpuUs"
  | "serverCpuUs"
  | "allocatedKb"
  | "loopMaxMs"
  | "loopBeyondMs"
  | "us"
  | "ms"
  | "kb"
  | "heapMb"
  | "bytes"
  | "logBytes"
  | "trips"
  | "tripsAgain";

export type Rounds = Readonly<Partial<Record<Measure, readonly number[]>>>;

/** One thing that was measured in every round. */
export interface Series {
  readonly group: string;
  readonly name: string;
  /** Where it was measured: `100 callers`, `1 KB`. Only series of one group at one point are compared. */
  readonly at: string;
  readonly rounds: Rounds;
  /** What was wrong with its answers: the function ran twice, or not at all. */
  readonly fault?: string | undefined;
}

export interface NotRun {
  readonly group: string;
  readonly name: string;
  readonly why: string;
}

export interface Figures {
  readonly series: readonly Series[];
  readonly notRun: readonly NotRun[];
}

export const NO_FIGURES: Figures = { series: [], notRun: [] };

export const merged = (all: readonly Figures[]): Figures => ({
  series: all.flatMap(({ series }) => series),
  notRun: all.flatMap(({ notRun }) => notRun),
});

export function roundsOf(
  { series }: Figures,
  group: string,
  name: string,
  at: string,
  measure: Measure,
): readonly number[] {
  const found = series.find((one) => one.group === group && one.name === name && one.at === at)
    ?.rounds[measure];
  return found ?? [];
}

/** A figure and how far the rounds went. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/**
 * The ratio of the medians. `low` and `high` are those of single rounds, in which both had the same
 * moment. `undefined` if one of them was not measured.
 */
export function ratioOf(over: readonly number[], under: readonly number[]): Spread | undefined {
  if (over.length === 0 || under.length === 0) return undefined;
  const each = over
    .slice(0, under.length)
    .map((value, round) => value / (under[round] ?? Number.NaN));
  const of = median(over) / median(under);
  return { median: of, low: Math.min(of, ...each), high: Math.max(of, ...each) };
}

/** Three digits that mean something: `0.0123`, `1.23`, `12.3`, `1,234`. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return Math.round(value).toLocaleString("en-US");
  return size >= 10 ? value.toFixed(1) : size >= 0.1 ? value.toFixed(2) : value.toPrecision(2);
}

/** `1.23 (1.10..1.40)`. One figure alone has no spread. */
export function spreadText(spread: Spread | undefined): string {
  if (!spread) return "–";
  const { median: middle, low, high } = spread;
  return low === high ? shown(middle) : `${shown(middle)} (${shown(low)}..${shown(high)})`;
}

/** A loop that never turned tells no delay: then the whole time was the stall. */
export const stallMs = ({ loopMaxMs, calls, perSecond }: Measured): number =>
  loopMaxMs > 0 ? loopMaxMs : (calls / perSecond) * 1_000;
