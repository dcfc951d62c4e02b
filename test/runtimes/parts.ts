/**
 * What is tried on each runtime, and how it is counted.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { userEnvironment } from "../package/run-program.ts";
import type { Runtime } from "./install.ts";

export interface Result {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly seconds: number;
}

export interface Part {
  readonly name: string;
  readonly run: () => Omit<Result, "seconds">;
}

/**
 * Not the integrations: their SDKs bring another undici, which takes the place of the dispatcher of an older Node's
 * own `fetch` for all tests of a process.
 */
const CORE = [
  "test/classify",
  "test/engine",
  "test/gate",
  "test/key",
  "test/lang",
  "test/ledger",
  "test/observe",
  "test/reconcile",
  "test/scenarios",
  "test/stores/memory",
  "test/stores/sqlite",
  "test/wire",
];

/** Not programs, but parts of them. */
const NO_EXAMPLES = ["bank", "demo", "holdfire.config"];
/** On a machine that does other things as well; what hangs still ends. */
const LONGEST_MS = 1_200_000;

export function partsOf(runtime: Runtime): readonly Part[] {
  if (runtime.kind === "node") return [{ name: "core suites", run: () => coreSuites(runtime) }];
  const examples = globSync("examples/*.ts")
    .filter((path) => !NO_EXAMPLES.includes(basename(path, ".ts")))
    .sort();
  return [
    { name: "store contract", run: () => contract(runtime) },
    { name: "demo", run: () => programs(runtime, ["examples/demo.ts"]) },
    { name: "examples", run: () => programs(runtime, examples) },
  ];
}

export function runPart({ run }: Part): Result {
  const started = performance.now();
  const result = run();
  return { ...result, seconds: Math.round((performance.now() - started) / 1_000) };
}

function start({ argv, kind, folder }: Runtime, ...args: readonly string[]) {
  const [program = "", ...before] = argv;
  const { PATH, ...rest } = userEnvironment();
  // Tests that start `node` mean this one.
  const own = { ...rest, PATH: kind === "node" ? `${folder}${delimiter}${PATH}` : PATH };
  const env = { ...own, HOLDFIRE_REQUIRE_SERVERS: process.env.HOLDFIRE_REQUIRE_SERVERS };
  const options = { env, encoding: "utf8", timeout: LONGEST_MS, maxBuffer: 64 * 1_048_576 };
  const { status, stdout, stderr } = spawnSync(program, [...before, ...args], options as never);
  return { status, out: String(stdout), said: `${stdout}\n${stderr}`.trim() };
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

function coreSuites(runtime: Runtime): Omit<Result, "seconds"> {
  const place = mkdtempSync(join(tmpdir(), "holdfire-runtime-"));
  const file = join(place, "report.json");
  const projects = ["--project", "quick", "--project", "whole"];
  const report = ["--reporter=json", `--outputFile=${file}`];
  const vitest = "node_modules/vitest/vitest.mjs";
  const { status, said } = start(runtime, vitest, "run", ...projects, ...report, ...CORE);
  try {
    const { numPassedTests, testResults }: VitestReport = JSON.parse(readFileSync(file, "utf8"));
    const failed = testResults.flatMap(({ name, message, assertionResults }) => {
      const tests = assertionResults
        .filter((one) => one.status === "failed")
        .map((one) => `${name}: ${one.fullName}: ${one.failureMessages[0]?.split("\n")[0]}`);
      return tests.length === 0 && message !== "" ? [`${name}: ${message}`] : tests;
    });
    const isSilent = status !== 0 && failed.length === 0;
    return { passed: numPassedTests, failed: isSilent ? [ending(status, said)] : failed };
  } catch {
    return { passed: 0, failed: [ending(status, said)] };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function contract(runtime: Runtime): Omit<Result, "seconds"> {
  const { status, out, said } = start(runtime, "test/runtimes/contract-program.ts");
  try {
    return JSON.parse(out.trim().split("\n").at(-1) ?? "");
  } catch {
    return { passed: 0, failed: [ending(status, said)] };
  }
}

/** Each ends with 0 only if what it shows went as it should. */
function programs(runtime: Runtime, paths: readonly string[]): Omit<Result, "seconds"> {
  const failed: string[] = [];
  for (const path of paths) {
    const { status, said } = start(runtime, path);
    if (status !== 0) failed.push(`${path}: ${ending(status, said)}`);
  }
  return { passed: paths.length - failed.length, failed };
}

const ending = (status: number | null, said: string): string =>
  `ended with ${status ?? "a signal"}: ${said.slice(-2_000)}`;
