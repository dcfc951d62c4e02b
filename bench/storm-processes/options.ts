/**
 * What the command line of the storm says.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { STORES, type StoreName } from "../../test/processes/place.ts";
import { namesIn, wholeNumber } from "../command-line.ts";

export interface StormOptions {
  readonly stores: readonly StoreName[];
  readonly intents: number;
  readonly processes: number;
  /** After so many answers one process is killed. */
  readonly killEvery: number;
  readonly seed: number;
  readonly json: boolean;
}

export const USAGE: string = `npm run storm:processes -- [options]

  --stores a,b      some of: ${STORES.join(", ")}
  --intents N       how many things are wanted; 10000 unless said
  --processes N     processes on one ledger; 12 unless said
  --kill-every N    after so many answers one process is killed, and a new one started; 100 unless said
  --seed N          1 unless said
  --json            the figures, as JSON`;

export function stormOptionsFrom(args: string[]): StormOptions {
  const { values } = parseArgs({
    args,
    options: {
      stores: { type: "string" },
      intents: { type: "string", default: "10000" },
      processes: { type: "string", default: "12" },
      "kill-every": { type: "string", default: "100" },
      seed: { type: "string", default: "1" },
      json: { type: "boolean", default: false },
    },
  });
  return {
    stores: namesIn(values.stores, STORES, "--stores") ?? STORES,
    intents: wholeNumber(values.intents, "--intents"),
    processes: wholeNumber(values.processes, "--processes"),
    killEvery: wholeNumber(values["kill-every"], "--kill-every"),
    seed: wholeNumber(values.seed, "--seed"),
    json: values.json,
  };
}
