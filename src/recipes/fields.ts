/**
 * Takes fields out of what a service answered: what is not as documented is an error, never a guess.
 *
 * @module
 */

import { peek, peekItems } from "../lang/peek.ts";

/** More than any page that is asked for. */
const MOST_ITEMS = 1_000;

/** A text or a number of the answer, as text. */
export function textAt(value: unknown, name: string): string {
  const found = peek(value, name);
  if (typeof found === "string" || typeof found === "number") return `${found}`;
  throw new Error(`The service's answer has no "${name}".`);
}

/** A number of the answer. */
export function numberAt(value: unknown, name: string): number {
  const found = peek(value, name);
  if (typeof found === "number") return found;
  throw new Error(`The service's answer has no "${name}".`);
}

/** A text where it may be missing. */
export function maybeTextAt(value: unknown, name: string): string | undefined {
  const found = peek(value, name);
  return typeof found === "string" ? found : undefined;
}

/** A list of the answer. A list that is not there is not an empty one. */
export const listAt = (value: unknown, name: string): readonly unknown[] =>
  listOf(peek(value, name), name);

export function listOf(found: unknown, name = "list"): readonly unknown[] {
  if (!Array.isArray(found)) throw new Error(`The service's answer has no "${name}".`);
  return peekItems(found, MOST_ITEMS);
}
