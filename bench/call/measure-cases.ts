/**
 * Measures cases in turns: each has a process of its own and a turn in every round, so that a busy
 * moment hits all of them. What cannot run here is left out, and said.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Measured } from "../stores/measure.ts";
import type { Case } from "./cases.ts";
import type { Ran, Round, RoundResult } from "./child.ts";
import { cleanPostgres, cleanRedis } from "./clean.ts";
import type { StoreName } from "./holdfire.ts";
import { type Runner, startRunner } from "./runner.ts";

/** All rounds of one case with so many callers. */
export interface CaseResult {
  readonly name: string;
  readonly group: StoreName;
  readonly callers: number;
  readonly first: readonly Measured[];
  /** The same calls made again. */
  readonly again: readonly Measured[];
  readonly allocatedKb: readonly number[];
  readonly ran: readonly Ran[];
  readonly ranAgain: number;
}

export interface LeftOut {
  readonly one: Case;
  readonly why: string;
}

export interface MeasuredCases {
  readonly results: readonly CaseResult[];
  readonly leftOut: readonly LeftOut[];
}

export interface Turns {
  readonly rounds: number;
  /** The rounds of one turn of a case: for each number of callers one. */
  readonly turnsOf: (one: Case) => readonly Round[];
  readonly report: (text: string, isRoundDone: boolean) => void;
}

/** So many calls that the code is compiled when the first round counts; on a slow store, fewer. */
const WARM_UP = { calls: 10_000, ms: 500, rounds: 3 };
export const redisUrl: string = process.env.REDIS_URL ?? "redis://127.0.0.1:6379";
export const postgresUrl: string =
  process.env.DATABASE_URL ?? "postgres://postgres@127.0.0.1:5432/test";

export async function measureCases(
  cases: readonly Case[],
  { rounds, turnsOf, report }: Turns,
): Promise<MeasuredCases> {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-bench-call-"));
  const prefix = `hfcall_${randomBytes(3).toString("hex")}`;
  const names = cases.map((_, index) => `${prefix}_${index}`);
  const runners = cases.map((one, index) =>
    startRunner(one, { folder, name: names[index] ?? prefix, redisUrl, postgresUrl }),
  );
  try {
    // The warm-up also tells what cannot run here.
    const leftOut = new Map<Runner, string>();
    const leave = (runner: Runner, why: string): void => {
      process.stderr.write(`left out: ${titleOf(runner)}: ${why}\n`);
      leftOut.set(runner, why);
      runner.end();
    };
    for (const runner of runners) {
      report(`warming up: ${titleOf(runner)}`, false);
      const failure = await warmUp(runner);
      if (failure !== undefined) leave(runner, failure);
    }
    const results = new Map<string, Growing>();
    for (let round = 1; round <= rounds; round += 1) {
      // The order turns as well, so that none always follows the same neighbour.
      const order = round % 2 === 0 ? runners.toReversed() : runners;
      const levels = new Set(cases.flatMap(turnsOf).map(({ callers }) => callers));
      for (const callers of levels) {
        for (const runner of order) {
          const turn = turnsOf(runner.one).find((each) => each.callers === callers);
          if (!turn || leftOut.has(runner)) continue;
          report(`round ${round} of ${rounds}: ${titleOf(runner)}, ${callers}`, false);
          const key = `${titleOf(runner)}/${callers}`;
          const all = results.get(key) ?? emptyResult(runner.one, callers);
          results.set(key, all);
          const result = await runner.measure(turn);
          if (result.tag === "measured") add(all, result);
          else leave(runner, result.why);
        }
      }
      report(`round ${round} of ${rounds} done`, true);
    }
    // What failed in a later round has fewer rounds than the others, and is not compared with them.
    const whole = [...results.values()].filter(
      ({ group, name }) =>
        ![...leftOut.keys()].some(({ one }) => one.group === group && one.name === name),
    );
    return {
      results: inOrder(whole, cases),
      leftOut: [...leftOut].map(([{ one }, why]) => ({ one, why })),
    };
  } finally {
    for (const runner of runners) runner.end();
    const used = new Set(cases.map(({ group }) => group));
    if (used.has("redis")) await cleanRedis(redisUrl, prefix);
    if (used.has("postgres")) await cleanPostgres(postgresUrl, names);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Why the case cannot run; `undefined` if it can. */
async function warmUp(runner: Runner): Promise<string | undefined> {
  let calls = 0;
  for (let round = 0; round < WARM_UP.rounds && calls < WARM_UP.calls; round += 1) {
    const warm = { callers: 10, ms: WARM_UP.ms, allocation: false, again: true };
    const result = await runner.measure(warm);
    if (result.tag === "failed") return result.why;
    calls += result.first.calls;
  }
  return undefined;
}

const titleOf = ({ one }: Runner): string => `${one.group}, ${one.name}`;

type Growing = {
  -readonly [K in keyof CaseResult]: CaseResult[K] extends readonly (infer T)[]
    ? T[]
    : CaseResult[K];
};

const emptyResult = ({ name, group }: Case, callers: number): Growing => ({
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

function add(all: Growing, { first, again, allocatedKb, ran, ranAgain }: MeasuredRound): void {
  all.first.push(first);
  if (again) all.again.push(again);
  if (allocatedKb !== undefined) all.allocatedKb.push(allocatedKb);
  all.ran.push(ran);
  all.ranAgain += ranAgain;
}

/** By group, then by the number of callers, then as the cases stand. */
function inOrder(results: readonly CaseResult[], cases: readonly Case[]): CaseResult[] {
  const groups = [...new Set(cases.map(({ group }) => group))];
  const place = ({ name, group }: CaseResult) =>
    cases.findIndex((one) => one.name === name && one.group === group);
  return results.toSorted(
    (a, b) =>
      groups.indexOf(a.group) - groups.indexOf(b.group) ||
      a.callers - b.callers ||
      place(a) - place(b),
  );
}
