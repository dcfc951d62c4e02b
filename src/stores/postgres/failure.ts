/**
 * Errors of Postgres, told apart by their SQLSTATE.
 *
 * @module
 */

import { isHoldfireError, StoreUnavailableError } from "../../errors.ts";

/** Five characters, the first two of which are the class. */
export function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  const { code } = error;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

export const NO_SUCH_TABLE = "42P01";
export const NO_SUCH_SCHEMA = "3F000";
export const NOT_IN_TRANSACTION = "25P01";
const UNIQUE_VIOLATION = "23505";
const LOCK_NOT_AVAILABLE = "55P03";
const CANCELLED = "57014";

/** Data, constraints, rollbacks, limits, locks: one of several rows may be to blame. */
const UNDONE_CLASSES: ReadonlySet<string> = new Set(["22", "23", "40", "54", "55"]);

/** Whether nothing of the statement happened for certain, and its parts may fare better alone. */
export function isUndone(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== undefined && (UNDONE_CLASSES.has(state.slice(0, 2)) || state === CANCELLED);
}

/** Somebody was in the way: a row made first, a deadlock, a serialization failure. */
export function isRace(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === UNIQUE_VIOLATION || state === LOCK_NOT_AVAILABLE || state?.slice(0, 2) === "40";
}

/** What a client threw, as one of our own errors; it is kept in `lastError`. */
export const unavailable = (step: string, error: unknown): Error =>
  isHoldfireError(error) ? error : new StoreUnavailableError(step, error);
