/**
 * What one guarded call costs, as a user makes it: claim, attempt, settle and reply, beside a bare
 * `await` and what people use instead. `npm run bench:call -- --help` lists the options. It is the short
 * form of `npm run bench`, and can also measure an older checkout beside this one.
 *
 * Only ratios within one run mean anything. Exits with 1 when a function ran twice or not at all.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { casesOf } from "./call/cases.ts";
import { type CaseResult, measureCases } from "./call/measure-cases.ts";
import { type BenchOptions, optionsFrom, USAGE } from "./call/options.ts";
import { isSound, tableOf } from "./call/print.ts";
import { readCommandLine } from "./command-line.ts";
import { report } from "./progress.ts";

const CALLERS = [1, 100];

async function run({ groups, rounds, ms, against }: BenchOptions): Promise<readonly CaseResult[]> {
  const checkout = fileURLToPath(new URL("..", import.meta.url));
  const cases = groups.flatMap((group) => casesOf(group, checkout, against));
  const turns = CALLERS.map((callers) => ({ callers, ms, allocation: true, again: true }));
  const { results } = await measureCases(cases, { rounds, turnsOf: () => turns, report });
  report("", false);
  return results;
}

const options = readCommandLine(USAGE, optionsFrom);
const results = await run(options);
console.log(options.json ? JSON.stringify(results) : tableOf(results));
if (!results.every(isSound)) process.exitCode = 1;
