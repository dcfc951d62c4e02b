/**
 * Several processes on one SQLite file, with 96 callers in all. Their functions are counted as in every
 * other case: each order belongs to one process, and must run once.
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { type Case, HOLDFIRE, PER_CALL } from "../call/cases.ts";
import type { Ran, RoundResult } from "../call/child.ts";
import { ranWords } from "../call/print.ts";
import { type Runner, startRunner } from "../call/runner.ts";
import { type Series, stallMs } from "./figures.ts";
import type { Part } from "./part.ts";

const CALLERS = 96;
const MOST_PROCESSES = 12;
/** So far apart that no two processes place the same order. */
const ORDERS_EACH = 1e9;
const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));

const HOLDFIRE_CASE: Case = {
  name: HOLDFIRE,
  group: "sqlite",
  guard: { tag: "holdfire", checkout: CHECKOUT },
};
const FLOOR_CASE: Case = {
  name: PER_CALL,
  group: "sqlite",
  guard: { tag: "peer", peer: "sqlite-per-call" },
};

interface Lot {
  readonly name: string;
  readonly runners: readonly Runner[];
  readonly perSecond: number[];
  readonly p99Us: number[];
  readonly loopMaxMs: number[];
  readonly loopBeyondMs: number[];
  readonly ran: Ran[];
}

export const processes: Part = {
  groups: ["processes"],
  async measure(_wanted, { rounds, ms }, report) {
    const folder = mkdtempSync(join(tmpdir(), "holdfire-bench-processes-"));
    const start = (one: Case, name: string): Runner[] =>
      Array.from({ length: MOST_PROCESSES }, (_, index) => {
        const place = { folder, name, redisUrl: "", postgresUrl: "" };
        return startRunner(one, { ...place, firstOrder: 1 + index * ORDERS_EACH });
      });
    const own = start(HOLDFIRE_CASE, "holdfire");
    const floor = start(FLOOR_CASE, "floor");
    const lots = [
      ...[1, 4, MOST_PROCESSES].map((count) =>
        lotOf(`holdfire, ${count} ${count === 1 ? "process" : "processes"}`, own.slice(0, count)),
      ),
      lotOf(`${PER_CALL}, ${MOST_PROCESSES} processes`, floor),
    ];
    try {
      // One process makes the file, so that no two make it at a time; then all are warmed up.
      for (const [first] of [own, floor]) await first?.measure(roundOf(1, ms));
      for (const lot of [own, floor]) await together(lot, ms);
      for (let round = 1; round <= rounds; round += 1) {
        for (const lot of round % 2 === 0 ? lots.toReversed() : lots) {
          report(`processes, round ${round} of ${rounds}: ${lot.name}`, false);
          await measure(lot, ms);
        }
      }
      report("processes done", true);
      return { series: lots.map(seriesOf), notRun: [] };
    } finally {
      for (const runner of [...own, ...floor]) runner.end();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

const lotOf = (name: string, runners: readonly Runner[]): Lot => ({
  name,
  runners,
  ...{ perSecond: [], p99Us: [], loopMaxMs: [], loopBeyondMs: [], ran: [] },
});

const roundOf = (count: number, ms: number) => ({
  callers: CALLERS / count,
  ms,
  allocation: false,
  again: false,
});

type MeasuredRound = Extract<RoundResult, { tag: "measured" }>;

async function together(runners: readonly Runner[], ms: number): Promise<MeasuredRound[]> {
  const round = roundOf(runners.length, ms);
  return Promise.all(
    runners.map(async (runner) => {
      const result = await runner.measure(round);
      if (result.tag === "failed") throw new Error(`${runner.one.name}: ${result.why}`);
      return result;
    }),
  );
}

/** This process does nothing meanwhile: how late its loop is, is the machine's doing. */
async function measure(lot: Lot, ms: number): Promise<void> {
  const idle = monitorEventLoopDelay({ resolution: 1 });
  idle.enable();
  const results = await together(lot.runners, ms);
  idle.disable();
  const stall = Math.max(...results.map(({ first }) => stallMs(first)));
  lot.perSecond.push(results.reduce((sum, { first }) => sum + first.perSecond, 0));
  lot.p99Us.push(Math.max(...results.map(({ first }) => first.p99Us)));
  lot.loopMaxMs.push(stall);
  lot.loopBeyondMs.push(Math.max(0, stall - idle.max / 1e6));
  lot.ran.push(...results.map(({ ran }) => ran));
}

function seriesOf({ name, runners: _, ran, ...rounds }: Lot): Series {
  const isRight = ran.every(
    ({ twice, never, wrongReceipts }) => twice + never + wrongReceipts === 0,
  );
  return {
    group: "processes",
    name,
    at: "",
    rounds,
    ...(isRight ? {} : { fault: ranWords(ran) }),
  };
}
