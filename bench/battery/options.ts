/**
 * What the command line of the battery says.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { namesIn, wholeNumber } from "../command-line.ts";
import { FAULTS } from "./faults.ts";
import { TOOL_CLASSES, type ToolClass } from "./stack.ts";
import { STACK_IDS, type StackId } from "./stacks.ts";

export interface BatteryOptions {
  readonly isFull: boolean;
  readonly seeds: readonly number[];
  readonly stacks: readonly StackId[];
  readonly classes: readonly ToolClass[];
  /** All, if not given. */
  readonly faults?: readonly string[] | undefined;
  readonly atOnce: number;
  readonly json: boolean;
  readonly html?: string | undefined;
  readonly write: boolean;
  /** Runs of the storm of processes, in files that its `--json` wrote: their figures go onto the page. */
  readonly storms: readonly string[];
  /** An earlier run, in the file that `--json` wrote. */
  readonly from?: string | undefined;
}

const AT_ONCE = 14;
/** How often each cell is run in the full battery, so that every fault is met at least twenty times. */
const FULL_ROUNDS = 20;

export const USAGE: string = `npm run battery -- [options]

  --full            each cell ${FULL_ROUNDS} times, and the faults that take long; hours
  --rounds N        how often each cell is run; 1 unless said
  --seed N          the seed of the first round; 1 unless said
  --stacks a,b      some of: ${STACK_IDS.join(", ")}
  --faults a,b      some of: ${FAULTS.map(({ id }) => id).join(", ")}
  --classes a,b     some of: ${TOOL_CLASSES.join(", ")}
  --at-once N       cells at a time; ${AT_ONCE} unless said
  --json            all cells, as JSON
  --html FILE       the matrix as a page
  --write           writes docs/scorecard.md and its picture, if holdfire keeps its promise
  --from RUN.json   runs nothing: shows what an earlier run printed with --json
  --storm RUN.json  adds what npm run storm:processes printed with --json`;

export function optionsFrom(args: string[]): BatteryOptions {
  const { values } = parseArgs({
    args,
    options: {
      full: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      html: { type: "string" },
      from: { type: "string" },
      storm: { type: "string", multiple: true, default: [] },
      seed: { type: "string", default: "1" },
      rounds: { type: "string" },
      stacks: { type: "string" },
      faults: { type: "string" },
      classes: { type: "string" },
      "at-once": { type: "string", default: String(AT_ONCE) },
    },
  });
  const seed = wholeNumber(values.seed, "--seed");
  const rounds = wholeNumber(values.rounds ?? (values.full ? `${FULL_ROUNDS}` : "1"), "--rounds");
  const ids = FAULTS.map(({ id }) => id);
  return {
    isFull: values.full,
    seeds: Array.from({ length: rounds }, (_, round) => seed + round),
    stacks: namesIn(values.stacks, STACK_IDS, "--stacks") ?? STACK_IDS,
    classes: namesIn(values.classes, TOOL_CLASSES, "--classes") ?? TOOL_CLASSES,
    faults: namesIn(values.faults, ids, "--faults"),
    atOnce: wholeNumber(values["at-once"], "--at-once"),
    json: values.json,
    html: values.html,
    write: values.write,
    from: values.from,
    storms: values.storm,
  };
}
