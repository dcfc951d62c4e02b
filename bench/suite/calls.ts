/**
 * Whole guarded calls on each store beside the floors and what people use instead: calls, replays, stalls
 * of the event loop, processor time and memory, all from the same rounds.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { allCasesOf, type Case, GROUPS as STORES } from "../call/cases.ts";
import type { Round } from "../call/child.ts";
import type { StoreName } from "../call/holdfire.ts";
import { type CaseResult, type LeftOut, measureCases } from "../call/measure-cases.ts";
import { isSound, ranWords } from "../call/print.ts";
import type { Measured } from "../stores/measure.ts";
import { type Figures, type NotRun, type Series, stallMs } from "./figures.ts";
import type { Part } from "./part.ts";

const CALLERS: Readonly<Record<StoreName, readonly number[]>> = {
  memory: [1, 100],
  sqlite: [1, 10, 100, 1_000],
  redis: [1, 10, 100, 1_000],
  postgres: [1, 10, 100, 1_000],
};
/** At these the same calls are made again, and stalls are shown. */
const SHOWN_AT = [1, 100];
const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));

export const calls: Part = {
  groups: [...STORES, "replay", "loop", "cost"],
  async measure(wanted, { rounds, ms }, report) {
    const stores = wanted.some((name) => !(STORES as readonly string[]).includes(name))
      ? STORES
      : STORES.filter((store) => wanted.includes(store));
    const cases = stores.flatMap((store) => allCasesOf(store, CHECKOUT));
    const turnsOf = ({ group }: Case): readonly Round[] =>
      CALLERS[group].map((callers) => ({
        callers,
        ms,
        allocation: callers === 1,
        again: SHOWN_AT.includes(callers),
      }));
    const { results, leftOut } = await measureCases(cases, { rounds, turnsOf, report });
    const figures = figuresOf(results, leftOut);
    return {
      series: figures.series.filter(({ group }) => wanted.includes(group)),
      notRun: figures.notRun.filter(({ group }) => wanted.includes(group)),
    };
  },
};

const callersText = (callers: number): string =>
  `${callers.toLocaleString("en-US")} ${callers === 1 ? "caller" : "callers"}`;

export function figuresOf(results: readonly CaseResult[], leftOut: readonly LeftOut[]): Figures {
  const series = [
    ...results.map(callsOf),
    ...results.filter((one) => one.again.length > 0 && !isForgetful(one)).map(replayOf),
    ...results.filter(({ callers }) => SHOWN_AT.includes(callers)).map(loopOf),
    ...results.filter(({ callers }) => callers === 100).map((one) => costOf(one, results)),
  ];
  const notRun = leftOut.map(({ one, why }): NotRun => ({ group: one.group, name: one.name, why }));
  const forgetful = results
    .filter((one) => isForgetful(one) && one.callers === 1)
    .map(
      ({ name }): NotRun => ({ group: "replay", name, why: "remembers nothing, so it runs again" }),
    );
  return { series, notRun: [...notRun, ...forgetful] };
}

/** Every call that was made again ran again: it is made to, and no fault. */
const isForgetful = ({ again, ranAgain }: CaseResult): boolean =>
  ranAgain > 0 && ranAgain >= again.reduce((sum, { calls }) => sum + calls, 0);

const of = (all: readonly Measured[], key: keyof Measured): number[] => all.map((one) => one[key]);

const callsOf = (one: CaseResult): Series => ({
  group: one.group,
  name: one.name,
  at: callersText(one.callers),
  rounds: {
    perSecond: of(one.first, "perSecond"),
    p50Us: of(one.first, "p50Us"),
    p99Us: of(one.first, "p99Us"),
  },
  ...(isSound(one) ? {} : { fault: ranWords(one.ran) }),
});

const pointOf = ({ group, callers }: CaseResult): string => `${group}, ${callersText(callers)}`;

const replayOf = (one: CaseResult): Series => ({
  group: "replay",
  name: one.name,
  at: pointOf(one),
  rounds: {
    perSecond: of(one.again, "perSecond"),
    p50Us: of(one.again, "p50Us"),
    cpuUs: of(one.again, "cpuUs"),
  },
  ...(one.ranAgain === 0 ? {} : { fault: `${one.ranAgain} ran TWICE` }),
});

const loopOf = (one: CaseResult): Series => ({
  group: "loop",
  name: one.name,
  at: pointOf(one),
  rounds: { loopMaxMs: one.first.map(stallMs) },
});

/** Memory is taken from the same case with one caller: with a hundred, calls overlap. */
function costOf(one: CaseResult, all: readonly CaseResult[]): Series {
  const alone = all.find(
    ({ group, name, callers }) => group === one.group && name === one.name && callers === 1,
  );
  return {
    group: "cost",
    name: one.name,
    at: one.group,
    rounds: { cpuUs: of(one.first, "cpuUs"), allocatedKb: alone?.allocatedKb ?? [] },
  };
}
