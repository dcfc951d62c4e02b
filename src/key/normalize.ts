/**
 * Makes free text comparable, for tools that ask for it: when a model repeats itself, often only
 * the white space differs.
 *
 * @module
 */

import type { Json } from "./json.ts";
import { isJsonObject } from "./json.ts";

/** Trims the text and replaces each run of white space with one space. */
export const normalizeText = (value: string): string => value.replace(/\s+/g, " ").trim();

/** Normalises the named top-level fields that are strings; the rest is unchanged. */
export function normalizeIntent(intent: Json, fields: readonly string[]): Json {
  if (!isJsonObject(intent) || fields.length === 0) return intent;
  // `fromEntries` defines properties instead of assigning them, so `__proto__` is an ordinary name.
  return Object.freeze(
    Object.fromEntries(
      Object.entries(intent).map(([name, value]) => [
        name,
        typeof value === "string" && fields.includes(name) ? normalizeText(value) : value,
      ]),
    ),
  );
}
