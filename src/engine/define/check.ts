/**
 * Checks of what users pass in: each names the option and the rule it breaks.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";

/** The longest that a Node timer can hold. */
const LONGEST_MS = 2 ** 31 - 1;

export function positive(value: unknown, path: string, forever = false): number {
  const limit = forever ? Number.POSITIVE_INFINITY : LONGEST_MS;
  if (typeof value === "number" && value > 0 && value <= limit) return value;
  throw new InvalidInputError(
    path,
    `must be a number of milliseconds above 0, got ${show(value)}.`,
  );
}

export function notNegative(value: unknown, path: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && value >= 0 && value <= LONGEST_MS) return value;
  throw new InvalidInputError(path, `must be a number of milliseconds from 0, got ${show(value)}.`);
}

export function oneOf<T>(value: T, those: readonly T[], path: string): T {
  if (those.includes(value)) return value;
  throw new InvalidInputError(path, `must be one of ${those.join(", ")}, got ${show(value)}.`);
}

export function wholeNumber(value: unknown, path: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1) return value as number;
  throw new InvalidInputError(path, `must be a whole number from 1, got ${show(value)}.`);
}

export function statuses(value: unknown, path: string): readonly number[] {
  const all = Array.isArray(value) ? [...value] : [undefined];
  for (const status of all) {
    // A 2xx is a yes; it cannot also be a promise that nothing was done.
    if (!Number.isInteger(status) || status < 300 || status > 599) {
      throw new InvalidInputError(path, `must list statuses from 300 to 599, got ${show(status)}.`);
    }
  }
  return all;
}

/** A list as it is now: a program may go on to use it for its next tool. What is no list is given back. */
export const copied = <T>(value: T): T =>
  Array.isArray(value) ? ([...value] as unknown as T) : value;

export const show = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : String(value).slice(0, 40);

/** A misspelt option is an error, not a default. */
export function checkOptions(options: object, known: readonly string[], path: string): void {
  if (typeof options !== "object" || options === null) {
    throw new InvalidInputError(path, `must be an object, got ${show(options)}.`);
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new InvalidInputError(`${path}.${name}`, "is not an option.");
  }
}
