/**
 * How the benches of stores measure: closed loops in alternating rounds, told as medians with their
 * spread. Only ratios within one run mean anything; the machine is never quiet.
 *
 * @module
 */

import { monitorEventLoopDelay } from "node:perf_hooks";

export interface Measured {
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** How late the event loop was. */
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
  readonly calls: number;
  /** Processor time of this process per call, its garbage collection included. */
  readonly cpuUs: number;
}

/** Calls for `ms` milliseconds with so many callers, each waiting for its own answer. */
export async function drive(
  callers: number,
  ms: number,
  call: () => Promise<void>,
): Promise<Measured> {
  const tookMs: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const began = performance.now();
  const until = began + ms;
  const caller = async (): Promise<void> => {
    for (let start = performance.now(); start < until; ) {
      await call();
      const end = performance.now();
      tookMs.push(end - start);
      start = end;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const elapsed = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  delay.disable();
  return {
    perSecond: (tookMs.length * 1_000) / elapsed,
    p50Us: quantile(tookMs, 0.5) * 1_000,
    p99Us: quantile(tookMs, 0.99) * 1_000,
    loopP99Ms: delay.percentile(99) / 1e6,
    loopMaxMs: delay.max / 1e6,
    calls: tookMs.length,
    cpuUs: (user + system) / tookMs.length,
  };
}

/** Runs every case once per round, in turns, so that a busy moment hits all of them. */
export async function inTurns<C extends string>(
  rounds: number,
  cases: Readonly<Record<C, () => Promise<Measured>>>,
): Promise<Record<C, Measured[]>> {
  const names = Object.keys(cases) as C[];
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    C,
    Measured[]
  >;
  for (let round = 0; round < rounds; round += 1) {
    // The order turns as well: who comes second finds the disk warm.
    const order = round % 2 === 0 ? names : names.toReversed();
    for (const name of order) results[name].push(await cases[name]());
  }
  return results;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** `1.23 (1.10..1.40)`: the median, and how far the rounds went. */
export function spread(values: readonly number[], digits = 2): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(digits)} (${low.toFixed(digits)}..${high.toFixed(digits)})`;
}

/** Round by round, so that both sides of a ratio had the same moment. */
export const ratios = (
  ours: readonly Measured[],
  floor: readonly Measured[],
  of: keyof Measured,
): number[] => ours.map((one, round) => one[of] / (floor[round]?.[of] ?? Number.NaN));

export interface Goal {
  readonly what: string;
  readonly values: readonly number[];
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
}

/** One line per goal. Says whether the median meets it. */
export function judge({ what, values, atLeast, atMost }: Goal): boolean {
  const value = median(values);
  const isMet = value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity);
  const goal = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
  console.log(`${isMet ? "met   " : "MISSED"} ${what}: ${spread(values)}, goal ${goal}`);
  return isMet;
}
