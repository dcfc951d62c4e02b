/**
 * The filters and limits of a list query, in one place for all stores.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";
import type { OperationRecord, Stored } from "./record.ts";
import type { ListQuery, Page } from "./store.ts";

const DEFAULT_PAGE = 100;
const DEFAULT_PRUNED = 1_000;
const MAX_LIMIT = 1_000;

/** Whether the record passes every filter. The tenant is not compared. */
export function matches(record: OperationRecord, query: ListQuery): boolean {
  const { state, tool, scope, resource, stateAt } = record;
  return (
    (query.states === undefined || query.states.includes(state.tag)) &&
    (query.tool === undefined || query.tool === tool) &&
    (query.scope === undefined || query.scope === scope) &&
    (query.resource === undefined || query.resource === resource) &&
    (query.since === undefined || stateAt >= query.since) &&
    (query.until === undefined || stateAt < query.until)
  );
}

/** A row of a list: `stored` is `undefined` if it cannot be read. */
export interface Row {
  readonly id: string;
  readonly stored: Stored | undefined;
}

/** One damaged row must not hide the others. */
export function rowOf(id: string, read: () => Stored | undefined): Row {
  try {
    return { id, stored: read() };
  } catch {
    return { id, stored: undefined };
  }
}

export function pageOf(rows: readonly Row[], cursor?: string): Page {
  const items = rows.flatMap(({ stored }) => stored ?? []);
  const unreadable = rows.filter(({ stored }) => !stored).map(({ id }) => id);
  return {
    items,
    ...(unreadable.length > 0 && { unreadable }),
    ...(cursor !== undefined && { cursor }),
  };
}

/** The place in the order of creation after which a page begins, of a store that counts its records. */
export function placeIn(cursor: string): number {
  const place = Number(cursor);
  if (Number.isSafeInteger(place) && place >= 1) return place;
  throw new InvalidInputError("query.cursor", "must be the cursor of an earlier page.");
}

/** How many records a page holds. */
export const pageLimit = (limit: number | undefined): number => clamp(limit, DEFAULT_PAGE);

/** How many records one call of `prune` changes. */
export const pruneLimit = (limit: number | undefined): number => clamp(limit, DEFAULT_PRUNED);

function clamp(limit: number | undefined, standard: number): number {
  if (limit === undefined || Number.isNaN(limit)) return standard;
  return Math.min(Math.max(Math.trunc(limit), 1), MAX_LIMIT);
}
