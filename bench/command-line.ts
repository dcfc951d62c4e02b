/**
 * The command line of a bench: one way to read it, to ask for help, and to be told what is wrong with it.
 *
 * @module
 */

import process from "node:process";

/** What `read` makes of the words. With `--help`, or with words that `read` throws at, the process ends with the usage. */
export function readCommandLine<T>(usage: string, read: (words: string[]) => T): T {
  const words = process.argv.slice(2);
  if (words.includes("--help")) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  try {
    return read(words);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
    process.exit(2);
  }
}

export function wholeNumber(text: string, flag: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`${flag} takes a whole number from 1, not "${text}".`);
}

/** The names in a list with commas. One that is not known is an error, and no empty table. */
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
