/**
 * The command line of `npm run bench`.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { wholeNumber } from "../command-line.ts";
import { GROUPS } from "./groups.ts";

export interface SuiteOptions {
  /** Names of groups, in the order of the page. */
  readonly groups: readonly string[];
  readonly rounds: number;
  /** How long one case is measured in one round. */
  readonly ms: number;
  /** Ledgers of 5 M rows, and 1 M calls for the heap. */
  readonly big: boolean;
  readonly quick: boolean;
  readonly json: boolean;
  /** Where charts are written, if anywhere. */
  readonly charts: string | undefined;
  readonly writeDocs: boolean;
  /** The JSON of an earlier run, shown in place of a new one. */
  readonly from: string | undefined;
}

/** A case and one number of callers has about so many turns of overhead beside the time that is measured. */
const OVERHEAD_MS = 300;
/** Cases times numbers of callers of a whole run, and the share of the time that they have. */
const TURNS = 60;
const SHARE = 0.6;
const WARM_UP_MS = 40_000;
const [LEAST_MS, MOST_MS] = [60, 500];

export const USAGE: string = `npm run bench -- [groups] [options]

  groups          some of: ${GROUPS.map(({ name }) => name).join(", ")}; all unless said
  --rounds N      how often every case is measured, in turns; 9 unless said
  --minutes N     about how long a whole run may take: sets how long a case is measured; 10 unless said
  --ms N          milliseconds for one case in one round, in place of --minutes
  --quick         3 short rounds: shows that it runs, says little
  --big           a ledger of 5 M rows (8 GB on the disk) and 1 M calls for the heap; takes much longer
  --json          all figures of all rounds, as JSON
  --charts DIR    writes an SVG chart for each group
  --write-docs    writes docs/performance.md and its charts; needs all groups
  --from FILE     measures nothing: takes what an earlier run printed with --json`;

export function optionsFrom(args: string[]): SuiteOptions {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: "string" },
      minutes: { type: "string", default: "10" },
      ms: { type: "string" },
      quick: { type: "boolean", default: false },
      big: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      charts: { type: "string" },
      "write-docs": { type: "boolean", default: false },
      from: { type: "string" },
    },
  });
  const names = GROUPS.map(({ name }) => name);
  const unknown = positionals.find((word) => !names.includes(word));
  if (unknown !== undefined) {
    throw new Error(`There is no group "${unknown}"; there are ${names.join(", ")}.`);
  }
  const writeDocs = values["write-docs"];
  if (writeDocs && positionals.length > 0) {
    throw new Error("--write-docs writes the whole page: it takes all groups, so name none.");
  }
  const rounds = wholeNumber(values.rounds ?? (values.quick ? "3" : "9"), "--rounds");
  const minutes = wholeNumber(values.minutes, "--minutes");
  const usual = values.quick ? LEAST_MS : msFor(minutes, rounds);
  return {
    groups: positionals.length === 0 ? names : names.filter((name) => positionals.includes(name)),
    rounds,
    ms: values.ms === undefined ? usual : wholeNumber(values.ms, "--ms"),
    big: values.big,
    quick: values.quick,
    json: values.json,
    charts: values.charts,
    writeDocs,
    from: values.from,
  };
}

/** How long each case may be measured in a round, so that a whole run takes about so many minutes. */
export function msFor(minutes: number, rounds: number): number {
  const forTurns = minutes * 60_000 * SHARE - WARM_UP_MS;
  const ms = Math.round(forTurns / (TURNS * rounds) - OVERHEAD_MS);
  return Math.min(MOST_MS, Math.max(LEAST_MS, ms));
}
