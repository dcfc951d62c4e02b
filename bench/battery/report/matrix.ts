/**
 * The results as a matrix: for each stack, fault and class one cell, all its rounds together.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { arch, cpus, platform } from "node:os";
import { VERSION } from "../../../src/version.ts";
import type { Storm } from "../../storm-processes/storm.ts";
import type { FaultCase } from "../fault.ts";
import { NOT_BUILT, SUCCESS } from "../faults.ts";
import { type Score, type Verdict, verdictOf } from "../judge.ts";
import type { BatteryOptions } from "../options.ts";
import type { CellResult } from "../run/cell.ts";
import type { Stack, ToolClass } from "../stack.ts";
import type { StackId } from "../stacks.ts";

export interface Cell {
  readonly stack: StackId;
  readonly fault: string;
  readonly toolClass: ToolClass;
  readonly verdict: Verdict | "void" | "not_applicable";
  readonly rounds: number;
  /** All rounds that were judged, added up; `answerMs` is the longest. */
  readonly score?: Score | undefined;
  readonly why?: string | undefined;
  /** What callers were told, of the round with the worst verdict. */
  readonly words?: readonly string[] | undefined;
}

export interface Column {
  readonly id: StackId;
  readonly name: string;
  readonly says: string;
  readonly isHoldfire: boolean;
  readonly versions: readonly string[];
}

export interface Row {
  readonly id: string;
  readonly name: string;
  readonly group: string;
}

export interface Matrix {
  readonly date: string;
  readonly version: string;
  readonly runtime: string;
  readonly seeds: readonly number[];
  readonly seconds: number;
  readonly isFull: boolean;
  readonly columns: readonly Column[];
  readonly classes: readonly ToolClass[];
  readonly rows: readonly Row[];
  readonly cells: readonly Cell[];
  readonly notBuilt: readonly string[];
  /** What the storm of processes came to, where it was run. */
  readonly storms?: readonly Storm[] | undefined;
}

export interface MatrixParts {
  readonly results: readonly CellResult[];
  readonly stacks: ReadonlyMap<StackId, Stack>;
  readonly faults: readonly FaultCase[];
  readonly options: BatteryOptions;
  readonly seconds: number;
}

export function matrixOf({ results, stacks, faults, options, seconds }: MatrixParts): Matrix {
  const columns = [...stacks].map(([id, { name, says, isHoldfire, packages }]) => ({
    id,
    name,
    says,
    isHoldfire,
    versions: packages.map(versionOf),
  }));
  const rows = [SUCCESS, ...faults].map(({ id, name, group }) => ({ id, name, group }));
  const cells = rows.flatMap((row) =>
    options.classes.flatMap((toolClass) =>
      columns.map(({ id }) =>
        cellOf(
          { stack: id, fault: row.id, toolClass },
          results.filter(
            (one) => one.stack === id && one.fault === row.id && one.toolClass === toolClass,
          ),
        ),
      ),
    ),
  );
  const machine = `${cpus().length} cores, ${platform()} ${arch()}`;
  return {
    date: new Date().toISOString().slice(0, 10),
    version: VERSION,
    runtime: `Node ${process.versions.node}, ${machine}`,
    seeds: options.seeds,
    seconds,
    isFull: options.isFull,
    columns,
    classes: options.classes,
    rows,
    cells,
    notBuilt: NOT_BUILT,
  };
}

/** From best to worst: a cell is as bad as its worst round. */
const ORDER: readonly Verdict[] = [
  "ok",
  "left_unknown",
  "not_done",
  "false_dedupe",
  "untrue",
  "lost",
  "duplicate",
];

function cellOf(
  about: Pick<Cell, "stack" | "fault" | "toolClass">,
  results: readonly CellResult[],
): Cell {
  const judged = results.filter((result) => result.tag === "judged");
  const [other] = results.filter((result) => result.tag !== "judged");
  const rounds = judged.length;
  // One round that proves nothing makes the cell prove nothing, unless another one found something.
  const worst = judged
    .map((result) => ({ result, verdict: verdictOf(result.score) }))
    .sort((a, b) => ORDER.indexOf(b.verdict) - ORDER.indexOf(a.verdict))[0];
  if (!worst || (other && worst.verdict === "ok")) {
    return { ...about, rounds, verdict: other?.tag ?? "void", why: other?.why ?? "it did not run" };
  }
  return {
    ...about,
    rounds,
    verdict: worst.verdict,
    score: judged.map(({ score }) => score).reduce(added),
    words: worst.result.told.map(({ said, words }) => `${said}: ${words}`),
  };
}

const added = (a: Score, b: Score): Score => ({
  duplicates: a.duplicates + b.duplicates,
  silentLosses: a.silentLosses + b.silentLosses,
  untrueWords: a.untrueWords + b.untrueWords,
  falseDedupes: a.falseDedupes + b.falseDedupes,
  wantedNotDone: a.wantedNotDone + b.wantedNotDone,
  leftUnknown: a.leftUnknown + b.leftUnknown,
  extraSends: a.extraSends + b.extraSends,
  arrivals: a.arrivals + b.arrivals,
  effects: a.effects + b.effects,
  answerMs: Math.max(a.answerMs, b.answerMs),
});

const require = createRequire(import.meta.url);

/** `p-retry 9.0.0`. Read from the files, since not every package lets its manifest be imported. */
function versionOf(name: string): string {
  if (name === "holdfire") return `holdfire ${VERSION}`;
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      const text = readFileSync(`${folder}/${name}/package.json`, "utf8");
      return `${name} ${(JSON.parse(text) as { version: string }).version}`;
    } catch {
      // The next folder, as Node looks for it.
    }
  }
  return name;
}
