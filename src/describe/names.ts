/**
 * The names by which a person may mean an operation: its id, a key that the service saw, the id of a tool call that made
 * it, or the beginning of an id or key.
 *
 * @module
 */

import type { OperationView } from "../engine/admin/operations.ts";
import { wireKey } from "../key/mint.ts";

/** Generations of a key that are compared, at most. */
const MOST_KEYS = 16;
/** The beginning of a key or id names an operation from this length on. */
export const SHORTEST = 6;

/** By its whole name. */
export function isCalled(operation: OperationView, asked: string): boolean {
  return operation.aliases.includes(asked) || keysOf(operation).includes(asked);
}

/** By the beginning of it. */
export const begins = (operation: OperationView, asked: string): boolean =>
  asked.length >= SHORTEST &&
  (operation.id.startsWith(asked) || keysOf(operation).some((key) => key.startsWith(asked)));

/** The key as it is now, and those that attempts have carried. */
function keysOf({ id, key, attempts }: OperationView): readonly string[] {
  const generations = new Set(attempts.map(({ generation }) => generation));
  return [key, ...[...generations].slice(-MOST_KEYS).map((number) => wireKey(id, number))];
}
