/**
 * The command line of `npm run bench:call`.
 *
 * @module
 */

import { resolve } from "node:path";
import { parseArgs } from "node:util";
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

export type Read =
  | ({ readonly tag: "run" } & BenchOptions)
  | { readonly tag: "help" }
  | { readonly tag: "wrong"; readonly why: string };

export function readOptions(args: readonly string[]): Read {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        only: { type: "string", default: GROUPS.join(",") },
        rounds: { type: "string", default: "7" },
        ms: { type: "string", default: "300" },
        against: { type: "string" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return { tag: "help" };
    return {
      tag: "run",
      groups: values.only.split(",").map(groupOf),
      rounds: positive("rounds", values.rounds),
      ms: positive("ms", values.ms),
      against: values.against === undefined ? undefined : resolve(values.against),
      json: values.json,
    };
  } catch (error) {
    return { tag: "wrong", why: error instanceof Error ? error.message : String(error) };
  }
}

function groupOf(word: string): StoreName {
  const group = GROUPS.find((name) => name === word);
  if (group === undefined) {
    throw new Error(`There is no store "${word}"; there are ${GROUPS.join(", ")}.`);
  }
  return group;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`--${name} takes a whole number above 0, not "${text}".`);
  }
  return value;
}
