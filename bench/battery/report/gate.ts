/**
 * Whether holdfire keeps its promise in the matrix: in every cell where the tool is keyed, readable or conditional no
 * duplicate, no loss, no untrue word, no false dedupe, and nothing wanted and not done; for a tool that is neither at most
 * one arrival for each wish; for every class no duplicate. A cell of holdfire that proves nothing fails, too.
 *
 * @module
 */

import type { Cell, Matrix } from "./matrix.ts";

export interface Gate {
  readonly isOk: boolean;
  /** A sentence for each cell that fails. */
  readonly failures: readonly string[];
}

const GUARDED: readonly string[] = ["keyed", "readable", "conditional"];

export function gate({ columns, cells }: Matrix): Gate {
  const own = new Set(columns.filter(({ isHoldfire }) => isHoldfire).map(({ id }) => id));
  const failures = cells
    .filter(({ stack }) => own.has(stack))
    .flatMap((cell) => {
      const problem = problemOf(cell);
      return problem ? [`${cell.fault}, ${cell.toolClass}, ${cell.stack}: ${problem}`] : [];
    });
  return { isOk: failures.length === 0, failures };
}

function problemOf({ toolClass, verdict, score, why }: Cell): string | undefined {
  if (verdict === "not_applicable") return undefined;
  if (!score) return `void: ${why}`;
  const { duplicates, silentLosses, untrueWords, falseDedupes } = score;
  const { wantedNotDone, extraSends } = score;
  if (duplicates > 0) return `${duplicates} duplicates`;
  if (silentLosses > 0) return `${silentLosses} lost`;
  if (untrueWords > 0) return `${untrueWords} untrue words`;
  if (falseDedupes > 0) return `${falseDedupes} false dedupes`;
  if (GUARDED.includes(toolClass) && wantedNotDone > 0) return `${wantedNotDone} not done`;
  if (toolClass !== "neither" || extraSends === 0) return undefined;
  return `${extraSends} more sent than wished for`;
}
