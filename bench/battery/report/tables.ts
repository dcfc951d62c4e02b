/**
 * The tables that the page in HTML and the page in Markdown both show: the sums, and how each stack is set up.
 *
 * @module
 */

import type { StackId } from "../stacks.ts";
import type { Matrix } from "./matrix.ts";
import { totalsOf } from "./totals.ts";

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

export const sumsOf = (matrix: Matrix): Table => ({
  head: [
    "Stack",
    "Duplicates",
    "Lost",
    "Untrue words",
    "False dedupes",
    "Wanted, not done",
    "Left unknown",
    "Arrivals an effect",
    "Median ms to an answer",
    "Cells",
  ],
  rows: totalsOf(matrix).map(({ column, score, attemptsPerEffect, medianMs, judged, voids }) => [
    column,
    score.duplicates,
    score.silentLosses,
    score.untrueWords,
    score.falseDedupes,
    score.wantedNotDone,
    score.leftUnknown,
    attemptsPerEffect.toFixed(2),
    medianMs,
    `${judged} (${voids} void)`,
  ]),
});

export const stormsOf = ({ storms = [] }: Matrix): Table => ({
  head: [
    "Store",
    "Effects",
    "Duplicates",
    "Lost",
    "Untrue words",
    "Left unknown",
    "Requests an effect",
    "Killed processes",
    "Calls cut off",
    "Left to the survivors",
    "Seconds",
  ],
  rows: storms.map(({ stack, score, attemptsPerEffect, kills, cutOff, leftOpen, seconds }) => [
    stack,
    score.effects,
    score.duplicates,
    score.silentLosses,
    score.untrueWords,
    score.leftUnknown,
    attemptsPerEffect.toFixed(3),
    kills,
    cutOff,
    leftOpen,
    seconds,
  ]),
});

const FILES: Partial<Readonly<Record<StackId, string>>> = {
  p_retry: "p-retry",
  sdk: "stripe",
  simple: "simple-policy",
  powertools: "powertools",
  node_idempotency: "node-idempotency",
  dbos: "dbos",
  restate: "restate",
  memory: "holdfire",
  sqlite: "holdfire",
  redis: "holdfire",
  postgres: "holdfire",
};

export const stacksOf = ({ columns }: Matrix): Table => ({
  head: ["Stack", "Set up as", "File", "Versions"],
  rows: columns.map(({ id, name, says, versions }) => [
    name,
    says,
    `${FILES[id]}.ts`,
    versions.join(", "),
  ]),
});
