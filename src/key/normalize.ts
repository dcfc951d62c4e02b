/**
 * Makes free text comparable, for tools that ask for it: a model that says the same thing again often
 * differs in white space only.
 *
 * @module
 */

import type { Json } from "./canonical.ts";
import { isJsonObject } from "./json.ts";

/** Trims the text and makes one space of each run of white space. */
export const normalizeText = (value: string): string => value.replace(/\s+/g, " ").trim();

/** Normalises those of the named top-level fields that are strings; the rest stays as it is. */
export function normalizeIntent(intent: Json, fields: readonly string[]): Json {
  if (!isJsonObject(intent) || fields.length === 0) return intent;
  // `fromEntries` defines and never assigns: `__proto__` is a name like any other.
  return Object.freeze(
    Object.fromEntries(
      Object.entries(intent).map(([name, value]) => [
        name,
        typeof value === "string" && fields.includes(name) ? normalizeText(value) : value,
      ]),
    ),
  );
}
