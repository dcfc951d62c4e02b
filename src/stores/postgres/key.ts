/**
 * Keys of rows: a hash of the names they stand for, written as a uuid.
 *
 * @module
 */

import { hash } from "node:crypto";
import { InvalidInputError } from "../../errors.ts";

const LONE_SURROGATE = /\p{Surrogate}/u;

/** 128 bits, as Postgres writes a uuid. Joined by what no name contains, so that no two lists of names are one text. */
export function keyOf(tenant: string, ...names: readonly string[]): string {
  checkText(tenant, "tenant");
  for (const name of names) checkText(name, "id");
  const hex = hash("sha256", `${tenant}\0${names.join("\0")}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** Postgres keeps no NUL, and half a character would come back as another. */
export function checkText(text: string, path: string): string {
  if (text.includes("\0") || LONE_SURROGATE.test(text)) {
    throw new InvalidInputError(path, "must be well-formed Unicode without NUL.");
  }
  return text;
}
