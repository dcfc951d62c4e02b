/**
 * What one guarded call costs, as a user makes it: claim, attempt, settle and reply, beside a bare
 * `await` and what people use instead. `npm run bench:call -- --help` lists the options.
 *
 * Every case has its turn in every round, so that a busy moment hits all of them. Only ratios within
 * one run mean anything. Exits with 1 when a function ran twice or not at all.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { casesOf } from "./call/cases.ts";
import type { Round, RoundResult } from "./call/child.ts";
import { cleanPostgres, cleanRedis } from "./call/clean.ts";
import { type BenchOptions, readOptions, USAGE } from "./call/options.ts";
import { type CaseResult, isSound, tableOf } from "./call/print.ts";
import { type Runner, startRunner } from "./call/runner.ts";

const CALLERS = [1, 100];
/** So many calls that the code is compiled when the first round counts; on a slow store, fewer. */
const WARM_UP = { calls: 10_000, ms: 500, rounds: 6 };
const redisUrl = process.env.REDIS_URL ?? "redis://127.0.0.1:6379";
const postgresUrl = process.env.DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/test";

/** On a terminal one line that changes, elsewhere the line of each finished round. */
function report(text: string, isRoundDone: boolean): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
  else if (isRoundDone) process.stderr.write(`${text}\n`);
}

async function run({ groups, rounds, ms, against }: BenchOptions): Promise<CaseResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-bench-call-"));
  const prefix = `hfcall_${randomBytes(3).toString("hex")}`;
  const checkout = fileURLToPath(new URL("..", import.meta.url));
  const cases = groups.flatMap((group) => casesOf(group, checkout, against));
  const names = cases.map((_, index) => `${prefix}_${index}`);
  let runners = cases.map((one, index) =>
    startRunner(one, { folder, name: names[index] ?? prefix, redisUrl, postgresUrl }),
  );
  try {
    // The warm-up also tells what cannot run here.
    const ready: Runner[] = [];
    for (const runner of runners) {
      report(`warming up: ${runner.one.group}, ${runner.one.name}`, false);
      const failure = await warmUp(runner);
      if (failure === undefined) ready.push(runner);
      else {
        process.stderr.write(`left out: ${titleOf(runner)}: ${failure}\n`);
        runner.end();
      }
    }
    runners = ready;
    const results = new Map(
      CALLERS.flatMap((callers) =>
        runners.map(({ one }) => [keyOf(one, callers), emptyResult(one, callers)] as const),
      ),
    );
    for (let round = 1; round <= rounds; round += 1) {
      // The order turns as well, so that none always follows the same neighbour.
      const order = round % 2 === 0 ? runners.toReversed() : runners;
      for (const callers of CALLERS) {
        for (const runner of order) {
          report(`round ${round} of ${rounds}: ${titleOf(runner)}, ${callers}`, false);
          const result = await measured(runner, { callers, ms });
          const all = results.get(keyOf(runner.one, callers));
          all?.first.push(result.first);
          all?.again.push(result.again);
          all?.allocatedKb.push(result.allocatedKb);
          all?.ran.push(result.ran);
          if (all) all.ranAgain += result.ranAgain;
        }
      }
      report(`round ${round} of ${rounds} done`, true);
    }
    report("", false);
    return [...results.values()].toSorted(
      (a, b) => groups.indexOf(a.group) - groups.indexOf(b.group),
    );
  } finally {
    for (const runner of runners) runner.end();
    const used = new Set(runners.map(({ one }) => one.group));
    if (used.has("redis")) await cleanRedis(redisUrl, prefix);
    if (used.has("postgres")) await cleanPostgres(postgresUrl, names);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Why the case cannot run; `undefined` if it can. */
async function warmUp(runner: Runner): Promise<string | undefined> {
  let calls = 0;
  for (let round = 0; round < WARM_UP.rounds && calls < WARM_UP.calls; round += 1) {
    const result = await runner.measure({ callers: 10, ms: WARM_UP.ms });
    if (result.tag === "failed") return result.why;
    calls += result.first.calls;
  }
  return undefined;
}

const titleOf = ({ one }: Runner): string => `${one.group}, ${one.name}`;
const keyOf = ({ group, name }: Runner["one"], callers: number): string =>
  `${group}/${name}/${callers}`;

type Growing = {
  -readonly [K in keyof CaseResult]: CaseResult[K] extends readonly (infer T)[]
    ? T[]
    : CaseResult[K];
};
const emptyResult = ({ name, group }: Runner["one"], callers: number): Growing => ({
  name,
  group,
  callers,
  first: [],
  again: [],
  allocatedKb: [],
  ran: [],
  ranAgain: 0,
});

type MeasuredRound = Extract<RoundResult, { tag: "measured" }>;
async function measured(runner: Runner, round: Round): Promise<MeasuredRound> {
  const result = await runner.measure(round);
  if (result.tag === "failed") throw new Error(`${titleOf(runner)}: ${result.why}`);
  return result;
}

const options = readOptions(process.argv.slice(2));
if (options.tag === "run") {
  const results = await run(options);
  console.log(options.json ? JSON.stringify(results) : tableOf(results));
  if (!results.every(isSound)) process.exitCode = 1;
} else if (options.tag === "help") {
  console.log(USAGE);
} else {
  console.error(`${options.why}\n\n${USAGE}`);
  process.exitCode = 2;
}
