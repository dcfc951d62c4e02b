/**
 * `npm run mutation`: changes the sources in small ways, one at a time, and counts the changes that no test sees.
 *
 *     npm run mutation -- src/key                      a folder, or a file; without one, everything: hours
 *     npm run mutation -- --stale src/engine/steps     only what was never measured, or has changed since
 *     npm run mutation -- --table                      measures nothing, shows the kept scores
 *     npm run mutation -- --json src/gate              the totals as JSON, on stdout; what happens meanwhile goes to stderr
 *     npm run mutation -- --workers 2 src/ledger       two mutants at a time
 *
 * The scores are kept in `scores.json` after each slice. Ends with 1 if a room of which every file is measured, as it
 * is now, is below its goal. `survivors.md` explains those that live where a write is claimed, settled and classified.
 *
 * @module
 */

import { stderr, stdout } from "node:process";
import { parseArgs } from "node:util";
import { measure } from "./measure.ts";
import { filesOf, ROOMS, type Slice, slicesOf } from "./rooms.ts";
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

const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    stale: { type: "boolean", default: false },
    table: { type: "boolean", default: false },
    workers: { type: "string", default: "1" },
  },
});

const say = (line: string): boolean => (options.json ? stderr : stdout).write(`${line}\n`);

function isWanted(file: string): boolean {
  const isNamed = paths.length === 0 || paths.some((path) => `${file}/`.startsWith(slashed(path)));
  const isStale = stateOf(readScores()[file], hashOf(file)) !== "measured";
  return isNamed && (isStale || !options.stale);
}

const slashed = (path: string): string => path.replace(/^\.\//, "").replace(/\/*$/, "/");

async function run({ room, files }: Slice): Promise<void> {
  const started = performance.now();
  const scores = await measure(
    { room, files },
    { workers: Number(options.workers), isShown: !options.json },
  );
  writeScores({ ...readScores(), ...scores });
  for (const file of files) say(`  ${lineOf(file, scores[file])}`);
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
}

const slices = options.table ? [] : ROOMS.flatMap((room) => slicesOf(room, isWanted));
if (!options.table && slices.length === 0) say("Nothing to measure.");
for (const [index, slice] of slices.entries()) {
  say(`slice ${index + 1} of ${slices.length}: ${slice.files.join(" ")}`);
  await run(slice);
}

const hashes = (files: readonly string[]) =>
  Object.fromEntries(files.map((file) => [file, hashOf(file)]));
const totals = ROOMS.map((room) => totalOf(room, hashes(filesOf(room)), readScores()));
show(totals);
if (options.json) stdout.write(`${JSON.stringify(totals, null, 2)}\n`);
process.exitCode = totals.some(({ verdict }) => verdict === "missed") ? 1 : 0;
