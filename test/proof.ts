/**
 * How much the heavy tests do: a tenth in `npm test`, all of it in `npm run proof`.
 *
 * The one place that reads `HOLDFIRE_PROOF`. The tests are the same; their counts come from here.
 *
 * @module
 */

import { env } from "node:process";

export const isProof: boolean = env.HOLDFIRE_PROOF === "1";

/** Stands in the titles and reports of tests whose count comes from here. */
export const SIZE: string = isProof ? "full size" : "small; npm run proof runs it in full";

/**
 * A count of seeds, runs or keys: `full` in a proof, elsewhere `small`. The environment variable `name`
 * sets another one.
 *
 * @param small default: a tenth of `full`, rounded up
 */
export function sized(name: string, full: number, small: number = Math.ceil(full / 10)): number {
  const given = env[name];
  if (given !== undefined) return Number(given);
  return isProof ? full : small;
}
