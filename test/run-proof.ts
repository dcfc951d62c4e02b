/**
 * `npm run proof`: every part runs, also after one that failed, and the last lines say which passed.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
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

function run({ name, argv }: Part, number: number): string {
  say(`\nproof ${number} of ${PARTS.length}: ${name}`);
  const started = performance.now();
  const { status } = spawnSync(execPath, argv, {
    stdio: "inherit",
    env: { ...env, HOLDFIRE_PROOF: "1" },
  });
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  if (status !== 0) process.exitCode = 1;
  return `  ${status === 0 ? "passed" : "FAILED"}  ${name}, ${seconds} s`;
}

const results = PARTS.map((part, index) => run(part, index + 1));
say(["\nproof:", ...results].join("\n"));
