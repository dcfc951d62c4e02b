/**
 * The battery: faults × classes of service × stacks, each cell against a real HTTP service in a process of its own, and
 * judged by code that reads only the service's logs, the stack's records and what callers were told.
 *
 * `npm run battery -- --help` lists the options. Ends with 1 if holdfire failed a cell that it promises to pass, or if one
 * of its cells proved nothing.
 *
 * @module
 */

import { readFileSync, writeFileSync } from "node:fs";
import { FAULTS, SUCCESS } from "./battery/faults.ts";
import { optionsFrom, USAGE } from "./battery/options.ts";
import { gate } from "./battery/report/gate.ts";
import { type Matrix, matrixOf } from "./battery/report/matrix.ts";
import { pageOf } from "./battery/report/page.ts";
import { printReport, showProgress } from "./battery/report/print.ts";
import { writeScorecard } from "./battery/report/scorecard.ts";
import { runAll } from "./battery/run/all.ts";
import { openGround } from "./battery/run/ground.ts";
import type { CellName } from "./battery/run/stage.ts";
import { createPool } from "./battery/run/workers.ts";
import type { Stack } from "./battery/stack.ts";
import { loadStack, type StackId } from "./battery/stacks.ts";
import { readCommandLine } from "./command-line.ts";
import type { Storm } from "./storm-processes/storm.ts";

const options = readCommandLine(USAGE, optionsFrom);
const played = options.from === undefined ? await runBattery() : readRun<Matrix>(options.from);
const storms = options.storms.flatMap((file) => readRun<{ storms: readonly Storm[] }>(file).storms);
const matrix: Matrix = storms.length === 0 ? played : { ...played, storms };
const judged = gate(matrix);
if (options.json) {
  process.stdout.write(`${JSON.stringify({ ...judged, ...matrix }, undefined, 2)}\n`);
} else {
  printReport(matrix, judged);
}
if (options.html !== undefined) writeFileSync(options.html, pageOf(matrix));
// The page says that holdfire keeps its promise: without that there is no page.
if (options.write && judged.isOk) writeScorecard(matrix);
// Clients of servers that are gone would keep the process alive.
process.exit(judged.isOk ? 0 : 1);

async function runBattery(): Promise<Matrix> {
  const stacks = new Map<StackId, Stack>();
  for (const id of options.stacks) stacks.set(id, await loadStack(id));
  const chosen = FAULTS.filter(({ id }) => options.faults?.includes(id) ?? true);
  const faults = chosen.filter(({ isFullOnly }) => options.isFull || isFullOnly !== true);
  const cells: CellName[] = options.seeds.flatMap((seed) =>
    [SUCCESS, ...faults].flatMap((fault) =>
      options.classes.flatMap((toolClass) =>
        options.stacks.map((stack) => ({ stack, fault, toolClass, seed })),
      ),
    ),
  );
  const ground = await openGround(new Set([...stacks.values()].flatMap(({ needs }) => needs)));
  const pool = createPool(ground.folder);
  const started = performance.now();
  try {
    const { atOnce } = options;
    const parts = { cells, stacks, ground, pool };
    const results = await runAll({ ...parts, atOnce, onProgress: showProgress });
    const seconds = Math.round((performance.now() - started) / 1_000);
    return matrixOf({ results, stacks, faults, options, seconds });
  } finally {
    await pool.end();
    await ground.end();
  }
}

/** What an earlier run wrote with `--json`. */
function readRun<T>(file: string): T {
  return JSON.parse(readFileSync(file, "utf8")) as T;
}
