/**
 * Checks the names that callers give, before anything is sent.
 *
 * A name is accepted unchanged or refused. Trimming or cutting could make two names equal, or give
 * the ledger and the service different names for one thing.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";

export const checkApp = (value: unknown): string => check(value, "app", 128);

export const checkTenant = (value: unknown): string => check(value, "tenant", 128);

/** One segment of a scope, as a caller gives it. */
export const checkScope = (value: unknown): string => check(value, "scope", 512);

export const checkToolName = (value: unknown): string => check(value, "name", 128);

/** The caller's own id for an operation. 255 characters is the most that common services accept. */
export const checkCallerKey = (value: unknown): string => check(value, "key", 255);

/** The person who answers or resolves. */
export const checkPerson = (value: unknown): string => check(value, "by", 128);

/** The resource that a write changes; the name of its lane. */
export const checkResource = (value: unknown): string => check(value, "resource", 512);

/** The person's reason. Any text of limited length. */
export function checkNote(value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "string") throw new InvalidInputError("note", "must be a string.");
  if (value.length > 2_000) {
    throw new InvalidInputError("note", "must not be longer than 2000 characters.");
  }
}

export const checkRetry = (value: unknown): string => check(value, "retry", 256);

export const checkAgain = (value: unknown): string => check(value, "again", 256);

export const checkStep = (value: unknown): string => check(value, "step", 256);

export const checkAlias = (value: unknown): string => check(value, "alias", 256);

/** Lengths count UTF-16 units. Returns the value, unchanged. */
function check(value: unknown, path: string, longest: number): string {
  if (typeof value !== "string") throw new InvalidInputError(path, "must be a string.");
  if (value === "") throw new InvalidInputError(path, "must not be empty.");
  if (value.length > longest) {
    throw new InvalidInputError(path, `must not be longer than ${longest} characters.`);
  }
  if (value.trim() !== value) {
    throw new InvalidInputError(path, "must not begin or end with white space.");
  }
  if (CONTROL.test(value)) {
    throw new InvalidInputError(path, "must not contain control characters.");
  }
  if (LONE_SURROGATE.test(value)) {
    throw new InvalidInputError(path, "must be well-formed Unicode: no lone surrogates.");
  }
  return value;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them.
const CONTROL = /[\u0000-\u001f\u007f]/;
const LONE_SURROGATE = /\p{Surrogate}/u;
