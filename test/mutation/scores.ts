/**
 * The scores that are kept, beside the sources they were measured on: `scores.json`.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { Room } from "./rooms.ts";

/** What became of the mutants of one source file. */
export interface Score {
  /** Of the source file when it was measured: with another one, the score is stale. */
  readonly hash: string;
  readonly killed: number;
  readonly timeout: number;
  readonly survived: number;
  readonly noCoverage: number;
  readonly ignored: number;
  readonly errors: number;
  /** The mutants that live, by line, column, kind and what stands there instead. Equal ones are one entry. */
  readonly alive: Readonly<Record<string, "survived" | "no_coverage">>;
}

export type Scores = Readonly<Record<string, Score>>;

export type State = "measured" | "stale" | "not_measured";

export interface Total {
  readonly room: string;
  readonly goal: number;
  readonly files: number;
  readonly measured: number;
  readonly stale: number;
  readonly mutants: number;
  readonly killed: number;
  /** In percent, of the files that were measured; undefined without mutants. */
  readonly score: number | undefined;
  /** `not_judged` while a file is stale or was never measured. */
  readonly verdict: "reached" | "missed" | "not_judged";
}

const PLACE = new URL("scores.json", import.meta.url);

export const readScores = (): Scores => JSON.parse(readFileSync(PLACE, "utf8"));

/** Sorted, so that a diff shows what changed. */
export function writeScores(scores: Scores): void {
  const sorted = Object.fromEntries(
    Object.keys(scores)
      .toSorted()
      .map((file) => [file, scores[file]]),
  );
  writeFileSync(PLACE, `${JSON.stringify(sorted, null, 2)}\n`);
}

export const hashOf = (file: string): string =>
  createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 16);

export const stateOf = (score: Score | undefined, hash: string): State =>
  score === undefined ? "not_measured" : score.hash === hash ? "measured" : "stale";

/** Mutants that count, and those of them that a test found. */
export const sums = (scores: readonly Score[]): { mutants: number; killed: number } => ({
  mutants: scores.reduce((sum, one) => sum + found(one) + one.survived + one.noCoverage, 0),
  killed: scores.reduce((sum, one) => sum + found(one), 0),
});

/** A mutant that never ends was found as well: its test does not pass. */
const found = ({ killed, timeout }: Score): number => killed + timeout;

/** In percent, rounded down: 89.99 is below 90. */
export const percent = (killed: number, mutants: number): number | undefined =>
  mutants === 0 ? undefined : Math.floor((killed / mutants) * 1_000) / 10;

/** A room against its goal. `hashes` are those of its files as they are now. */
export function totalOf(
  { name, goal }: Pick<Room, "name" | "goal">,
  hashes: Readonly<Record<string, string>>,
  scores: Scores,
): Total {
  const files = Object.entries(hashes);
  const states = files.map(([file, hash]) => stateOf(scores[file], hash));
  const count = (wanted: State): number => states.filter((state) => state === wanted).length;
  const known = files.flatMap(([file]) => scores[file] ?? []);
  const { mutants, killed } = sums(known);
  const score = percent(killed, mutants);
  const isWhole = count("measured") === files.length && score !== undefined;
  const verdict = !isWhole ? "not_judged" : score >= goal ? "reached" : "missed";
  return {
    room: name,
    goal,
    files: files.length,
    measured: count("measured"),
    stale: count("stale"),
    mutants,
    killed,
    score,
    verdict,
  };
}
