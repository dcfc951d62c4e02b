/**
 * What a watched process writes down, a line of JSON each. Written as it happens, so that a process
 * that is killed has told what it did.
 *
 * @module
 */

export type Line =
  | {
      readonly tag: "begin";
      /** Counts the requests of the process, from 1. */
      readonly n: number;
      readonly method: string;
      readonly origin: string;
      /** Without the query. */
      readonly path: string;
      /** Equal for equal addresses, the query included; says nothing of them. */
      readonly same: string;
      /** The attempt of holdfire's that it belongs to. */
      readonly operation?: string | undefined;
      readonly attempt?: number | undefined;
    }
  /** The request of that number went out once more. */
  | { readonly tag: "resend"; readonly n: number }
  | { readonly tag: "status"; readonly n: number; readonly status: number }
  | { readonly tag: "error"; readonly n: number }
  /** There was more than is written down. */
  | { readonly tag: "cut" };

/** Where a watched process writes: the folder, and the salt of `same`. */
export const FOLDER = "HOLDFIRE_LIVE_FOLDER";
export const SALT = "HOLDFIRE_LIVE_SALT";

/** A last line that broke off is left out. */
export function linesOf(text: string): readonly Line[] {
  return text.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as Line];
    } catch {
      return [];
    }
  });
}
