/**
 * The storm: how many requests arrive for one logical call that always fails, as clients come, inside
 * an outer loop, and with holdfire. Ends with 1 if holdfire was not the only one who decided.
 *
 * `npm run storm -- --help` lists the options.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { readCommandLine } from "./command-line.ts";
import {
  type Cell,
  type Counted,
  cellsOf,
  countCell,
  guardedWrites,
  hiddenRetries,
} from "./storm/cells.ts";
import { printHidden, printTable, printVerdict } from "./storm/print.ts";

/** How long a client's own retries are watched, in milliseconds. */
const CAP_MS = 6_000;
/** Few: a service that hangs is given up after a while, and the request must have arrived by then. */
const AT_ONCE = 6;

const USAGE = `npm run storm -- [options]

  --quick   leaves out what holdfire has no say in
  --json    the figures, as JSON`;

const flag = { type: "boolean", default: false } as const;
const { values } = readCommandLine(USAGE, (args) =>
  parseArgs({ args, options: { quick: flag, json: flag } }),
);

const table = [...cellsOf(values), ...guardedWrites];
const counted = await countAll([...table, ...hiddenRetries]);
const isOk = counted.every(({ ok }) => ok);

if (values.json) {
  console.log(JSON.stringify({ ok: isOk, capMs: CAP_MS, cells: counted }, undefined, 2));
} else {
  printTable(counted.slice(0, table.length));
  printHidden(counted.slice(table.length));
  if (counted.some(({ goesOn }) => goesOn)) {
    console.log(`\n≥ n: n had arrived after ${CAP_MS / 1_000} s, and it went on.`);
  }
  printVerdict(counted);
}
// Clients that were left in the middle of their retries would keep the process alive.
process.exit(isOk ? 0 : 1);

async function countAll(cells: readonly Cell[]): Promise<Counted[]> {
  const results: Counted[] = [];
  const queue = [...cells.entries()];
  let done = 0;
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [index, cell] = next;
      results[index] = await countCell(cell, CAP_MS);
      done += 1;
      progress(done, cells.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

function progress(done: number, all: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${all}${done === all ? "\n" : ""}`);
  else if (done % 50 === 0 || done === all) process.stderr.write(`${done} of ${all} cells\n`);
}
