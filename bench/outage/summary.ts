/**
 * What a simulated outage comes to, in a few figures for each policy.
 *
 * @module
 */

import { shown } from "../suite/figures.ts";
import type { Table } from "../suite/rows.ts";
import type { Scenario, Second, Simulated } from "./simulate.ts";

export interface Summary {
  readonly policy: string;
  /** Requests in the busiest second of the outage. */
  readonly peak: number;
  /** Requests during the outage, for each call that began in it. */
  readonly amplification: number;
  /** Seconds from the end of the outage until as many calls are answered as come in. `undefined`: never. */
  readonly recoveredAfter: number | undefined;
  /** Seconds from the end of the outage until reconcile has read all that was left unknown. */
  readonly settledAfter: number | undefined;
  readonly mostWaiting: number;
  readonly committed: number;
  readonly held: number;
  readonly settledLater: number;
  readonly unknown: number;
}

const SENT = ({ first, resent }: Second): number => first + resent;
/** So many seconds together must be good: one alone is chance. */
const STEADY = 5;
const GOOD = 0.95;

export function summarize({ outage, callsPerSecond }: Scenario, run: Simulated): Summary {
  const { policy, seconds, ends } = run;
  const during = seconds.slice(outage.from, outage.to);
  const after = seconds.slice(outage.to);
  const sum = (all: readonly Second[], of: (second: Second) => number): number =>
    all.reduce((total, second) => total + of(second), 0);
  const recovered = after.findIndex((_, at) => {
    const window = after.slice(at, at + STEADY);
    const answered = sum(window, (second) => second.answered);
    return window.length === STEADY && answered >= GOOD * callsPerSecond * STEADY;
  });
  const settled = after.findIndex(({ unknown }) => unknown === 0);
  return {
    policy,
    peak: Math.max(0, ...during.map(SENT)),
    amplification:
      sum(during, SENT) /
      Math.max(
        1,
        sum(during, ({ first }) => first),
      ),
    recoveredAfter: recovered < 0 ? undefined : recovered,
    settledAfter: settled < 0 ? undefined : settled,
    mostWaiting: Math.max(...seconds.map(({ hotWaiting }) => hotWaiting)),
    committed: ends.committed,
    held: ends.held,
    settledLater: ends.settled_later,
    unknown: ends.unknown,
  };
}

const secondsText = (seconds: number | undefined): string =>
  seconds === undefined ? "not in the run" : `${seconds} s`;

export const outageTable = (all: readonly Summary[]): Table => ({
  head: [
    "",
    "busiest second",
    "requests per call",
    "answers again after",
    "all settled after",
    "waiting for the hot lane",
    "committed",
    "held",
    "unknown, then read",
    "still unknown",
  ],
  rows: all.map((one) => [
    one.policy,
    shown(one.peak),
    one.amplification.toFixed(2),
    secondsText(one.recoveredAfter),
    secondsText(one.settledAfter),
    shown(one.mostWaiting),
    ...[one.committed, one.held, one.settledLater, one.unknown].map(shown),
  ]),
});
