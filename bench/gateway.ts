/**
 * What the gateway costs a call: next to a bare pipe to the same server, call by call in turns, as ratios; and whether
 * its memory stays flat over many calls. `npm run bench:gateway [-- --json] [--calls N] [--memory-calls N]`
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readCommandLine, wholeNumber } from "./command-line.ts";
import { barePipe, call, gatewayPipe, type Pipe } from "./gateway/pipe.ts";

const USAGE = `npm run bench:gateway -- [options]

  --calls N          calls of each way that are timed; 1000 unless said
  --memory-calls N   calls over which the heap is watched; 10000 unless said
  --json             the figures, as JSON`;

const options = readCommandLine(USAGE, (args) => {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean", default: false },
      calls: { type: "string", default: "1000" },
      "memory-calls": { type: "string", default: "10000" },
    },
  });
  const calls = wholeNumber(values.calls, "--calls");
  return {
    calls,
    memoryCalls: wholeNumber(values["memory-calls"], "--memory-calls"),
    json: values.json,
  };
});
const { calls: CALLS, memoryCalls: MEMORY_CALLS } = options;
const WARM_UP = Math.min(200, CALLS);
const PARALLEL = 20;

const folder = mkdtempSync(join(tmpdir(), "holdfire-bench-gateway-"));
const say = (line: string): void => void process.stderr.write(`${line}\n`);

interface Way {
  readonly name: "bare" | "unguarded" | "read" | "write";
  readonly pipe: Pipe;
  readonly tool: "read" | "write";
  readonly micros: number[];
}

const percentile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * share)] ?? Number.NaN;

/** In turns, so that a busy moment hits all. */
async function timeCalls(): Promise<readonly Way[]> {
  const [bare, unguarded, guarded] = await Promise.all([
    barePipe(),
    gatewayPipe(join(folder, "unguarded.db"), ["--unguarded"]),
    gatewayPipe(join(folder, "timed.db")),
  ]);
  const ways: readonly Way[] = [
    { name: "bare", pipe: bare, tool: "write", micros: [] },
    { name: "unguarded", pipe: unguarded, tool: "write", micros: [] },
    { name: "read", pipe: guarded, tool: "read", micros: [] },
    { name: "write", pipe: guarded, tool: "write", micros: [] },
  ];
  for (let n = -WARM_UP; n < CALLS; n += 1) {
    for (const { pipe, tool, micros } of ways) {
      const began = performance.now();
      await call(pipe, tool, `call ${n}`);
      if (n >= 0) micros.push((performance.now() - began) * 1_000);
    }
  }
  await Promise.all([bare, unguarded, guarded].map((pipe) => pipe.close()));
  return ways;
}

/** The gateway's heap after a fifth of the guarded calls, and after all of them. */
async function heapOver(calls: number): Promise<{ early: number; late: number }> {
  const pipe = await gatewayPipe(join(folder, "memory.db"));
  let made = 0;
  const makeUntil = (end: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: PARALLEL }, async () => {
        while (made < end) {
          made += 1;
          await call(pipe, "write", `memory ${made}`);
        }
      }),
    );
  await makeUntil(calls / 5);
  const early = await pipe.heapUsed();
  say(`gateway: ${made} calls made, heap ${early} bytes`);
  await makeUntil(calls);
  const late = await pipe.heapUsed();
  await pipe.close();
  return { early, late };
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

try {
  const ways = await timeCalls();
  const [bare] = ways;
  if (!bare) throw new Error("There is nothing to compare with.");
  const lines = ways.map(({ name, micros }) => ({
    name,
    p50Micros: rounded(percentile(micros, 0.5), 0),
    p99Micros: rounded(percentile(micros, 0.99), 0),
    p50Ratio: rounded(percentile(micros, 0.5) / percentile(bare.micros, 0.5), 2),
    p99Ratio: rounded(percentile(micros, 0.99) / percentile(bare.micros, 0.99), 2),
  }));
  const heap = await heapOver(MEMORY_CALLS);
  const write = lines.find(({ name }) => name === "write");
  const report = {
    calls: CALLS,
    p50Ratio: write?.p50Ratio,
    p99Ratio: write?.p99Ratio,
    ways: lines,
    memoryCalls: MEMORY_CALLS,
    heapEarlyBytes: heap.early,
    heapLateBytes: heap.late,
    heapRatio: rounded(heap.late / heap.early, 3),
  };
  if (options.json) console.log(JSON.stringify(report));
  else {
    for (const { name, p50Micros, p99Micros, p50Ratio, p99Ratio } of lines) {
      console.log(
        `${name.padEnd(9)} p50 ${p50Micros} µs, ${p50Ratio} × bare; p99 ${p99Micros} µs, ${p99Ratio} × bare`,
      );
    }
    const [early, late] = [heap.early, heap.late].map((bytes) => (bytes / 2 ** 20).toFixed(1));
    console.log(
      `heap      ${early} MiB after ${MEMORY_CALLS / 5} guarded calls, ${late} MiB after ${MEMORY_CALLS}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
