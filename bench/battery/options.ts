/**
 * What the command line of the battery says. A name that does not exist is an error, not an empty table.
 *
 * @module
 */

import { parseArgs } from "node:util";
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

export function optionsFrom(argv: readonly string[]): BatteryOptions {
  const { values } = parseArgs({
    args: [...argv],
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

export function wholeNumber(text: string, flag: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`${flag} must be a whole number from 1, got "${text}".`);
}

export function namesIn<T extends string>(
  text: string | undefined,
  known: readonly T[],
  flag: string,
): readonly T[] | undefined {
  return text?.split(",").map((name) => {
    const found = known.find((one) => one === name);
    if (found === undefined) {
      throw new Error(`${flag}: there is no "${name}". There is: ${known.join(", ")}.`);
    }
    return found;
  });
}
