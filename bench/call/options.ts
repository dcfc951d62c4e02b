/**
 * The command line of `npm run bench:call`.
 *
 * @module
 */

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { namesIn, wholeNumber } from "../command-line.ts";
import { GROUPS } from "./cases.ts";
import type { StoreName } from "./holdfire.ts";

export interface BenchOptions {
  readonly groups: readonly StoreName[];
  readonly rounds: number;
  /** How long one case is measured in one round. */
  readonly ms: number;
  /** Another checkout of holdfire, measured in the same rounds. */
  readonly against: string | undefined;
  readonly json: boolean;
}

export const USAGE: string = `npm run bench:call -- [options]

  --only memory,sqlite   some of: ${GROUPS.join(", ")}
  --rounds N             how often every case is measured, 7 unless said
  --ms N                 milliseconds for one case in one round, 300 unless said
  --against DIR          another checkout of holdfire, measured in the same rounds
  --json                 figures of all rounds, as JSON`;

export function optionsFrom(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string" },
      rounds: { type: "string", default: "7" },
      ms: { type: "string", default: "300" },
      against: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  return {
    groups: namesIn(values.only, GROUPS, "--only") ?? GROUPS,
    rounds: wholeNumber(values.rounds, "--rounds"),
    ms: wholeNumber(values.ms, "--ms"),
    against: values.against === undefined ? undefined : resolve(values.against),
    json: values.json,
  };
}
