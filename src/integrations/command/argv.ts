/**
 * From a tool's arguments to the words of a command line, so that no text of a model's becomes a flag.
 *
 * What the developer wrote goes out as it is. A value stands behind its flag in the same word
 * (`--to=…`), or it is a word of its own that may not look like a flag.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";

/** What may stand in a command line; `undefined` leaves it out. A boolean is for bare flags only. */
export type Word = string | number | boolean | undefined;

/** Where a value comes from: the name of an argument, or a function of all of them. */
export type From<A> = (keyof A & string) | ((args: A) => Word);

/** One piece of a command line. */
export type Piece<A> =
  /** A word by the developer. After a `"--"`, values may begin with a dash. */
  | string
  /** A value as a word of its own. */
  | { readonly from: From<A>; readonly flag?: undefined; readonly bare?: undefined }
  /** A flag without a value: `true` sets it, `false` leaves it out, and nothing else is taken. */
  | { readonly flag: string; readonly from: From<A>; readonly bare: true }
  /** A flag and its value, joined by `=` if the flag begins with two dashes. */
  | {
      readonly flag: string;
      readonly from: From<A>;
      readonly bare?: undefined;
      /** For programs that want the value as the next word; it may then not begin with a dash. */
      readonly apart?: boolean | undefined;
    };

/** A template, or a function that writes one for these arguments. */
export type Pieces<A> = readonly Piece<A>[];

const END_OF_FLAGS = "--";
const MAX_WORD_LENGTH = 32_768;

/** `flags` are ours: the key, the dry run. They stand before the end of flags, if there is one. */
export function argvOf<A>(pieces: Pieces<A>, args: A, flags: readonly string[]): string[] {
  const before: string[] = [];
  const after: string[] = [];
  let ended = false;
  for (const piece of pieces) {
    if (piece === END_OF_FLAGS) ended = true;
    (ended ? after : before).push(...wordsOf(piece, args, ended));
  }
  return [...before, ...flags, ...after];
}

/** A flag of ours with its value. */
export const flagWith = (flag: string, value: string): readonly string[] =>
  flag.startsWith("--") ? [`${flag}=${value}`] : [flag, value];

function wordsOf<A>(piece: Piece<A>, args: A, ended: boolean): readonly string[] {
  if (typeof piece === "string") return [piece];
  const { from, flag } = piece;
  const name = typeof from === "function" ? (flag ?? "value") : from;
  const value = typeof from === "function" ? from(args) : (args[from] as Word);
  if (value === undefined || value === null) return [];
  if (piece.bare) {
    if (typeof value === "boolean") return value ? [piece.flag] : [];
    throw new InvalidInputError(`args.${name}`, "must be true or false.");
  }
  const word = checkWord(value, name);
  if (flag?.startsWith("--") && !piece.apart) return [`${flag}=${word}`];
  if (word.startsWith("-") && !ended) {
    const rule = "must not begin with a dash: the program would take it for a flag.";
    throw new InvalidInputError(`args.${name}`, rule);
  }
  return flag === undefined ? [word] : [flag, word];
}

function checkWord(value: unknown, name: string): string {
  const path = `args.${name}`;
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (typeof value !== "string") {
    // Without its value, a flag would take the next word for it.
    throw new InvalidInputError(path, "must be a text or a finite number (bare: true for a flag).");
  }
  if (value.includes("\0")) throw new InvalidInputError(path, "must not contain a NUL character.");
  if (value.length > MAX_WORD_LENGTH) {
    throw new InvalidInputError(path, `must not be longer than ${MAX_WORD_LENGTH} characters.`);
  }
  return value;
}
