/**
 * A sample of the mutants of a folder that is too large to be measured whole in one sitting: which mutants are drawn, what
 * their share says about all of them, and where that is kept: `samples.json`.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { hashOf, percent, type Score, sums } from "./scores.ts";

/** What became of the mutants that were drawn. */
export interface Sample extends Score {
  /** With the same seed and the same sources, the same mutants are drawn. */
  readonly seed: number;
  /** How many mutants were drawn; those that end in an error are among them, and count neither way. */
  readonly drawn: number;
  /** How many mutants it was drawn from. */
  readonly of: number;
  /** In percent, as `percent` rounds. */
  readonly score: number | undefined;
  /** In percent: where the score of all mutants lies, in 95 of 100 samples. */
  readonly interval: Interval;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** By the folder, or the file, that it was drawn from. */
export type Samples = Readonly<Record<string, Sample>>;

/**
 * `count` of them, in their own order, each as likely as any other. A mutant's place in the draw hangs on nothing but its
 * name and the seed: a larger sample holds the smaller one, and a change in one file leaves the mutants of the others.
 */
export function draw<T>(
  all: readonly T[],
  nameOf: (one: T) => string,
  { count, seed }: { readonly count: number; readonly seed: number },
): readonly T[] {
  const places = all.map((one) => ({ one, place: digest(`${seed} ${nameOf(one)}`) }));
  const first = places.toSorted((a, b) => (a.place < b.place ? -1 : 1)).slice(0, count);
  const drawn = new Set(first.map(({ one }) => one));
  return all.filter((one) => drawn.has(one));
}

/** The deviation of a normal distribution that 95 % of it do not exceed. */
const Z = 1.959964;

/**
 * Wilson's interval, in percent. It is meant for a draw with replacement, and so is a little too wide for this one: the
 * more of the mutants are drawn, the more so.
 */
export function intervalOf(killed: number, mutants: number): Interval {
  if (mutants === 0) return { low: 0, high: 100 };
  const share = killed / mutants;
  const middle = share + Z ** 2 / (2 * mutants);
  const half = Z * Math.sqrt((share * (1 - share)) / mutants + Z ** 2 / (4 * mutants ** 2));
  const scale = 100 / (1 + Z ** 2 / mutants);
  return { low: tenth(Math.max(0, middle - half) * scale), high: tenth((middle + half) * scale) };
}

const tenth = (value: number): number => Math.min(100, Math.round(value * 10) / 10);

/** The sample, with what follows from its counts. */
export function sampleOf(counts: Score, drawn: Pick<Sample, "seed" | "drawn" | "of">): Sample {
  const { mutants, killed } = sums([counts]);
  return {
    ...drawn,
    score: percent(killed, mutants),
    interval: intervalOf(killed, mutants),
    ...counts,
  };
}

/** `hash` is that of the sources as they are now. */
export function sampleLine(sample: Sample, hash: string | undefined): string {
  const { mutants } = sums([sample]);
  const { low, high } = sample.interval;
  const parts = [
    `${Math.floor(low)}..${Math.ceil(high)}`,
    `${mutants} of ${sample.of.toLocaleString("en-US")}`,
    ...(sample.hash === hash ? [] : ["stale"]),
  ];
  return `sampled: ${sample.score ?? "-"} % (${parts.join(", ")})`;
}

/** Of all the sources that a sample is drawn from. */
export const hashOfAll = (files: readonly string[]): string =>
  digest(files.map((file) => `${file} ${hashOf(file)}`).join("\n")).slice(0, 16);

const PLACE = new URL("samples.json", import.meta.url);

export const readSamples = (): Samples => JSON.parse(readFileSync(PLACE, "utf8"));

/** In place of an older one of the same folder. */
export function keepSample(path: string, sample: Sample): void {
  const all = Object.entries({ ...readSamples(), [path]: sample });
  const sorted = Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(PLACE, `${JSON.stringify(sorted, null, 2)}\n`);
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
