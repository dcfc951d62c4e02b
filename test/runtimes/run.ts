/**
 * `npm run runtimes`: the core suites on the oldest Node that is supported and on the newest of each line; the store
 * contract, the demo and the examples on Bun and Deno. Ends with 1 if one of them fails.
 *
 *     npm run runtimes                    all
 *     npm run runtimes -- node-22 deno    some
 *     npm run runtimes -- --json          the table as JSON, on stdout; what happens meanwhile goes to stderr
 *
 * The runtimes are fetched from npm. Where that fails they are skipped, and with HOLDFIRE_REQUIRE_SERVERS=1 it is a failure.
 *
 * @module
 */

import { env, stderr, stdout } from "node:process";
import { install, type Runtime, type Wanted } from "./install.ts";
import { type Part, partsOf, type Result, runPart } from "./parts.ts";

/** The floor of `engines`, the first of a line that once failed, and the newest of each line. */
const WANTED: readonly Wanted[] = [
  { kind: "node", version: "22.18.0" },
  { kind: "node", version: "24.0.0" },
  { kind: "node", version: "22" },
  { kind: "node", version: "24" },
  { kind: "node", version: "26" },
  { kind: "bun", version: "1" },
  { kind: "deno", version: "2" },
];

interface Row extends Result {
  readonly runtime: string;
  readonly version: string;
  readonly part: string;
}

const nameOf = ({ kind, version }: Wanted): string => `${kind}-${version}`;
const named = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const isJson = process.argv.includes("--json");
const say = (line: string): boolean => (isJson ? stderr : stdout).write(`${line}\n`);

function installOrSkip(): readonly Runtime[] {
  const wanted = WANTED.filter(
    (one) => named.length === 0 || named.includes(one.kind) || named.includes(nameOf(one)),
  );
  if (wanted.length === 0) throw new Error(`There are only ${WANTED.map(nameOf).join(", ")}.`);
  say(`fetching ${wanted.map(nameOf).join(", ")}`);
  try {
    return install(wanted);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (env.HOLDFIRE_REQUIRE_SERVERS === "1") throw new Error(`Cannot fetch runtimes: ${why}`);
    say(`\nSKIPPED: no runtime was fetched, so nothing was tried on any of them.\n${why}`);
    return [];
  }
}

function run(runtime: Runtime, part: Part): Row {
  const row = { runtime: nameOf(runtime), version: runtime.found, part: part.name };
  say(`${runtime.kind} ${runtime.found}: ${part.name}`);
  const result = runPart(part);
  for (const failure of result.failed) say(`  FAILED  ${failure}`);
  return { ...row, ...result };
}

function isThisNode({ kind, found }: Runtime): boolean {
  const isThis = kind === "node" && found === process.versions.node;
  if (isThis) say(`node ${found}: npm test runs on it`);
  return isThis;
}

const rows = installOrSkip().flatMap((runtime) =>
  isThisNode(runtime) ? [] : partsOf(runtime).map((part) => run(runtime, part)),
);

const table = rows.map(({ runtime, version, part, passed, failed, seconds }) =>
  [
    failed.length === 0 ? "passed" : "FAILED",
    runtime.padEnd(12),
    version.padEnd(8),
    part.padEnd(14),
    `${passed} of ${passed + failed.length}`.padStart(12),
    `${seconds} s`.padStart(6),
  ].join("  "),
);
say(`\nruntimes:\n  ${table.join("\n  ")}`);
if (isJson) stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
process.exitCode = rows.some(({ failed }) => failed.length > 0) ? 1 : 0;
