/**
 * What each stack scored over all cells that were judged.
 *
 * @module
 */

import type { Score } from "../judge.ts";
import type { Column, Matrix } from "./matrix.ts";

export interface Totals {
  readonly column: string;
  readonly id: Column["id"];
  readonly isHoldfire: boolean;
  readonly judged: number;
  readonly voids: number;
  readonly score: Omit<Score, "answerMs">;
  /** Requests that arrived for each effect that came about. */
  readonly attemptsPerEffect: number;
  /** Half of the cells were answered within this, in milliseconds. */
  readonly medianMs: number;
  readonly text: string;
}

const COUNTS = [
  "duplicates",
  "silentLosses",
  "untrueWords",
  "falseDedupes",
  "wantedNotDone",
  "leftUnknown",
  "extraSends",
  "arrivals",
  "effects",
] as const;

/** A liar makes no effects, so there is nothing to do, to lose or to repeat: it is judged by its words, in the matrix. */
export function totalsOf({ columns, cells }: Matrix): readonly Totals[] {
  return columns.map(({ id, name, isHoldfire }) => {
    const own = cells.filter((cell) => cell.stack === id && cell.toolClass !== "liar");
    const scores = own.flatMap(({ score }) => score ?? []);
    const voids = own.filter(({ verdict }) => verdict === "void").length;
    const sum = (of: (typeof COUNTS)[number]) => scores.reduce((all, one) => all + one[of], 0);
    const score = Object.fromEntries(COUNTS.map((of) => [of, sum(of)])) as Totals["score"];
    const times = scores.map(({ answerMs }) => answerMs).sort((a, b) => a - b);
    const medianMs = times[Math.floor(times.length / 2)] ?? 0;
    const attemptsPerEffect = score.effects === 0 ? 0 : score.arrivals / score.effects;
    const text = [
      `${score.duplicates} duplicates`,
      `${score.silentLosses} lost`,
      `${score.untrueWords} untrue`,
      `${score.falseDedupes} false dedupes`,
      `${score.wantedNotDone} not done`,
      `${score.leftUnknown} left unknown`,
      `${attemptsPerEffect.toFixed(2)} arrivals an effect`,
      `${voids} void of ${own.length}`,
    ].join(", ");
    const counts = { judged: scores.length, voids, score, attemptsPerEffect, medianMs };
    return { column: name, id, isHoldfire, ...counts, text };
  });
}
