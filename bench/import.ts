/**
 * What `import "holdfire"` costs: the built root entry, in fresh processes, next to a bare Node.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";

const RUNS = 11;
const root = pathToFileURL("dist/index.js").href;

/** Milliseconds of the import alone, measured inside a process that does nothing else. */
function importOnce(): number {
  const code = `const t = performance.now(); await import(${JSON.stringify(root)}); console.log(performance.now() - t);`;
  return Number(run(code).stdout);
}

/** Milliseconds from start to end of a process that does nothing. */
const startOnce = (): number => run("").tookMs;

function run(code: string): { readonly stdout: string; readonly tookMs: number } {
  const began = performance.now();
  const args = ["--input-type=module", "--eval", code];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`The process failed. Is dist built?\n${stderr}`);
  return { stdout, tookMs: performance.now() - began };
}

function line(what: string, samples: readonly number[]): string {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (index: number) => (sorted.at(index) ?? Number.NaN).toFixed(1);
  return `${what}: ${at(Math.floor(sorted.length / 2))} ms (${at(0)}..${at(-1)})`;
}

// One round to warm the disk; then in turns, so that a busy moment hits both.
importOnce();
const imports: number[] = [];
const starts: number[] = [];
for (let round = 0; round < RUNS; round += 1) {
  imports.push(importOnce());
  starts.push(startOnce());
}
console.log(line("import", imports));
console.log(line("bare node", starts));
