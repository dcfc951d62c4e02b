/**
 * What the command line of the storm says. A name that does not exist is an error, not an empty table.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { STORES, type StoreName } from "../../test/processes/place.ts";
import { namesIn, wholeNumber } from "../battery/options.ts";

export interface StormOptions {
  readonly stores: readonly StoreName[];
  readonly intents: number;
  readonly processes: number;
  /** After so many answers one process is killed. */
  readonly killEvery: number;
  readonly seed: number;
  readonly json: boolean;
}

export function stormOptionsFrom(argv: readonly string[]): StormOptions {
  const { values } = parseArgs({
    args: [...argv],
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
