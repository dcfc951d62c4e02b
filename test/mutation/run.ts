/**
 * `npm run mutation`: changes the sources in small ways, one at a time, and counts the changes that no test sees.
 *
 *     npm run mutation -- src/key                      a folder, or a file; without one, everything: hours
 *     npm run mutation -- --stale src/engine/steps     only what was never measured, or has changed since
 *     npm run mutation -- --sample 300 src/engine      300 of its mutants, drawn at random; --seed 2 draws others
 *     npm run mutation -- --table                      measures nothing, shows the kept scores
 *     npm run mutation -- --json src/gate              the totals as JSON, on stdout; what happens meanwhile goes to stderr
 *     npm run mutation -- --workers 2 src/ledger       two mutants at a time
 *
 * The scores are kept in `scores.json` after each slice. Ends with 1 if a room of which every file is measured, as it
 * is now, is below its goal. A sample is kept in `samples.json`; no file is measured by it, and no goal reached. Tests that were
 * written for what it has shown are judged by the next seed: on their own sample they would flatter. `survivors.md` explains those that live where a write is claimed, settled and classified.
 *
 * @module
 */

import { stderr, stdout } from "node:process";
import { parseArgs } from "node:util";
import { measure, measureSample } from "./measure.ts";
import { filesOf, isIn, ROOMS, type Slice, slicesOf, type Whole, wholesOf } from "./rooms.ts";
import { hashOfAll, keepSample, readSamples, sampleLine } from "./sample.ts";
import {
  hashOf,
  percent,
  readScores,
  type Score,
  stateOf,
  sums,
  type Total,
  totalOf,
  writeScores,
} from "./scores.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    stale: { type: "boolean", default: false },
    table: { type: "boolean", default: false },
    workers: { type: "string", default: "1" },
  },
});

const say = (line: string): boolean => (options.json ? stderr : stdout).write(`${line}\n`);

const paths = positionals.map((path) => path.replace(/^\.\//, "").replace(/\/+$/, ""));

function isWanted(file: string): boolean {
  const isNamed = paths.length === 0 || paths.some((path) => isIn(file, path));
  const isStale = stateOf(readScores()[file], hashOf(file)) !== "measured";
  return isNamed && (isStale || !options.stale);
}

const measuring = { workers: Number(options.workers), isShown: !options.json };

async function run(slice: Slice): Promise<void> {
  const scores = await measure(slice, measuring);
  writeScores({ ...readScores(), ...scores });
  for (const file of slice.files) say(`  ${lineOf(file, scores[file])}`);
}

async function runSample(whole: Whole): Promise<void> {
  const sample = await measureSample(whole, measuring, {
    count: Number(options.sample),
    seed: Number(options.seed),
    onAlive: (name) => say(`  lives: ${name}`),
  });
  keepSample(whole.name, sample);
}

async function timed(title: string, work: () => Promise<void>): Promise<void> {
  const started = performance.now();
  say(title);
  await work();
  say(`  ${Math.round((performance.now() - started) / 1_000)} s`);
}

function lineOf(file: string, score: Score | undefined): string {
  const state = stateOf(score, hashOf(file));
  if (score === undefined) return `${file.padEnd(46)} not measured`;
  const { mutants, killed } = sums([score]);
  const cells = [
    `${percent(killed, mutants) ?? "-"}`.padStart(5),
    `${killed} of ${mutants}`.padStart(11),
    state === "stale" ? "stale" : "",
  ];
  return `${file.padEnd(46)} ${cells.join("  ")}`.trimEnd();
}

function show(totals: readonly Total[]): void {
  const scores = readScores();
  for (const room of ROOMS) for (const file of filesOf(room)) say(lineOf(file, scores[file]));
  say("\nroom       score   goal   killed         files measured");
  for (const total of totals) {
    const cells = [
      total.room.padEnd(9),
      `${total.score ?? "-"}`.padStart(6),
      `${total.goal}`.padStart(5),
      `${total.killed} of ${total.mutants}`.padStart(13),
      `${total.measured} of ${total.files}, ${total.stale} stale`.padStart(22),
      total.verdict.replace("_", " "),
    ];
    say(cells.join("  "));
  }
  say("");
  for (const [name, sample] of Object.entries(readSamples()))
    say(`${name.padEnd(20)}  ${sampleLine(sample, hashOfSampled(name))}, seed ${sample.seed}`);
}

/** The hash that a sample of this name would have now. */
function hashOfSampled(name: string): string | undefined {
  const wholes = ROOMS.flatMap((room) => wholesOf(room, name.split(" ")));
  const whole = wholes.find((one) => one.name === name);
  return whole && hashOfAll(whole.files);
}

if (options.sample !== undefined) {
  for (const whole of ROOMS.flatMap((room) => wholesOf(room, paths)))
    await timed(`${options.sample} mutants of ${whole.name}`, () => runSample(whole));
} else if (!options.table) {
  const slices = ROOMS.flatMap((room) => slicesOf(room, isWanted));
  if (slices.length === 0) say("Nothing to measure.");
  for (const [index, slice] of slices.entries())
    await timed(`slice ${index + 1} of ${slices.length}: ${slice.files.join(" ")}`, () =>
      run(slice),
    );
}

const hashes = (files: readonly string[]) =>
  Object.fromEntries(files.map((file) => [file, hashOf(file)]));
const totals = ROOMS.map((room) => totalOf(room, hashes(filesOf(room)), readScores()));
show(totals);
if (options.json) stdout.write(`${JSON.stringify(totals, null, 2)}\n`);
process.exitCode = totals.some(({ verdict }) => verdict === "missed") ? 1 : 0;
