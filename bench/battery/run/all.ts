/**
 * Runs all cells, so many at once, and says how far it is and how long the rest may take.
 *
 * @module
 */

import { atMost } from "../../../test/processes/at-most.ts";
import { SUCCESS } from "../faults.ts";
import { verdictOf } from "../judge.ts";
import type { Stack } from "../stack.ts";
import type { StackId } from "../stacks.ts";
import { type CellResult, runCell } from "./cell.ts";
import type { Ground } from "./ground.ts";
import type { CellName } from "./stage.ts";
import type { Pool } from "./workers.ts";

export interface RunOptions {
  readonly cells: readonly CellName[];
  readonly stacks: ReadonlyMap<StackId, Stack>;
  readonly ground: Ground;
  readonly pool: Pool;
  readonly atOnce: number;
  readonly onProgress: (progress: Progress) => void;
}

export interface Progress {
  readonly done: number;
  readonly all: number;
  /** How long the rest may take, in milliseconds; `undefined` before anything is known. */
  readonly leftMs: number | undefined;
  readonly last: CellResult;
}

/** Each stack's own test of a success comes first; the columns that fail it are void, with the reason. */
export async function runAll(options: RunOptions): Promise<readonly CellResult[]> {
  const { cells, atOnce, onProgress } = options;
  const started = performance.now();
  let done = 0;
  const run = async (cell: CellName, because?: string): Promise<CellResult> => {
    const { stack, fault, toolClass, seed } = cell;
    const about = { stack, fault: fault.id, toolClass, seed };
    const play = (take: number) =>
      runCell({ ...cell, take }, stackOf(options, stack), options.ground, options.pool);
    const skipped: CellResult = { ...about, tag: "void", why: because ?? "" };
    const first = because === undefined ? await play(1) : skipped;
    // What proves nothing is played once more: on a busy machine a request can be given up before it arrives.
    const result = first.tag === "void" && because === undefined ? await play(2) : first;
    done += 1;
    const spent = performance.now() - started;
    const leftMs = done < atOnce ? undefined : (spent / done) * (cells.length - done);
    onProgress({ done, all: cells.length, leftMs, last: result });
    return result;
  };
  const own = cells.filter(({ fault }) => fault.id === SUCCESS.id);
  const proofs = await atMost(atOnce, own, (cell) => run(cell));
  const rest = cells.filter(({ fault }) => fault.id !== SUCCESS.id);
  const others = await atMost(atOnce, rest, (cell) => run(cell, columnProblem(cell, proofs)));
  return [...proofs, ...others];
}

function stackOf({ stacks }: RunOptions, id: StackId): Stack {
  const stack = stacks.get(id);
  if (!stack) throw new Error(`The stack ${id} is not loaded.`);
  return stack;
}

/** A liar cannot be asked for a success: there any class on which the stack works will do. */
function columnProblem(cell: CellName, proofs: readonly CellResult[]): string | undefined {
  const mine = proofs.filter(
    ({ stack, toolClass }) =>
      stack === cell.stack && (cell.toolClass === "liar" || toolClass === cell.toolClass),
  );
  if (mine.length === 0 || mine.some(isSuccess)) return undefined;
  if (mine.some(({ tag }) => tag === "not_applicable")) return undefined;
  const [first] = mine;
  const why = first && "why" in first ? first.why : wordsOf(first);
  return `its own test of a success failed: ${why}`;
}

const isSuccess = (result: CellResult): boolean =>
  result.tag === "judged" && verdictOf(result.score) === "ok" && result.score.effects === 1;

const wordsOf = (result: CellResult | undefined): string =>
  result?.tag === "judged" ? (result.told.at(-1)?.words ?? "nothing was told") : "it did not run";
