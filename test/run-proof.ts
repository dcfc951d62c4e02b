/**
 * `npm run proof`: every part runs, also after one that failed. The last lines say which passed, after the end of what each
 * that failed has printed.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import process, { env, execPath, stdout } from "node:process";

interface Part {
  readonly name: string;
  readonly argv: readonly string[];
}

const vitest = (...files: readonly string[]): readonly string[] => [
  "node_modules/vitest/vitest.mjs",
  "run",
  ...files,
];

const PARTS: readonly Part[] = [
  { name: "planted bugs", argv: vitest("test/battery/planted") },
  { name: "random histories", argv: vitest("test/battery/model", "test/battery/interleavings") },
  { name: "killed processes", argv: vitest("test/crash") },
  { name: "system calls", argv: vitest("test/syscalls") },
  { name: "stores in trouble", argv: vitest("test/faults") },
  { name: "processes on one ledger", argv: vitest("test/processes") },
  { name: "MCP conformance", argv: vitest("test/integrations/mcp") },
  { name: "gateway", argv: vitest("test/gateway") },
  { name: "clients of the gateway", argv: ["test/gateway/hosts/run.ts"] },
  { name: "chaos on other agents", argv: vitest("test/chaos") },
  { name: "console in Chromium", argv: vitest("test/console/browser") },
  { name: "storm", argv: ["bench/storm.ts", "--quick"] },
  {
    name: "storm of processes",
    argv: ["bench/storm-processes.ts", "--intents", "1000", "--kill-every", "50"],
  },
  { name: "frameworks", argv: ["bench/frameworks.ts"] },
  { name: "battery", argv: ["bench/battery.ts"] },
  { name: "apps", argv: ["bench/frameworks.ts", "--apps"] },
  { name: "runtimes", argv: ["test/runtimes/run.ts"] },
  { name: "bundlers and Jest", argv: ["test/package/check-tools.ts"] },
];

const say = (line: string): boolean => stdout.write(`${line}\n`);

/** So much of what a part that failed has printed last. */
const KEPT_LENGTH = 6_000;
const kept: string[] = [];

async function run({ name, argv }: Part, number: number): Promise<string> {
  say(`\nproof ${number} of ${PARTS.length}: ${name}`);
  const started = performance.now();
  const colours = stdout.isTTY ? { FORCE_COLOR: "1" } : {};
  const child = spawn(execPath, argv, {
    stdio: ["inherit", "pipe", "pipe"],
    env: { ...env, ...colours, HOLDFIRE_PROOF: "1" },
  });
  let last = "";
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding("utf8").on("data", (text: string) => {
      stdout.write(text);
      last = (last + text).slice(-KEPT_LENGTH);
    });
  }
  const [status] = (await once(child, "close")) as [number | null];
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  if (status === 0) return `  passed  ${name}, ${seconds} s`;
  process.exitCode = 1;
  kept.push(`\nFAILED: ${name}, whose last lines were\n${last}`);
  return `  FAILED  ${name}, ${seconds} s`;
}

const results: string[] = [];
for (const [index, part] of PARTS.entries()) results.push(await run(part, index + 1));
say([...kept, "\nproof:", ...results].join("\n"));
