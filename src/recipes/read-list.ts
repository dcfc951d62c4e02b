/**
 * From pages of a service's list to a reading: what carries our key is ours, and a list that was not
 * read to its end proves no absence.
 *
 * @module
 */

import type { Reading } from "../engine/define/reading.ts";
import { type Found, readingByStanding } from "../http-tool/standing.ts";

/** How far a service's clock and the ledger's may be apart, in milliseconds. */
const SKEW_MS = 300_000;

/** How many pages are read at most. */
const MOST_PAGES = 10;

/** The earliest time, on the service's clock, at which an effect of this operation can have happened. */
export const earliest = (firstSentAt: number): number => firstSentAt - SKEW_MS;

interface Page<T, C> {
  readonly items: readonly T[];
  /** Where the next page begins; `undefined` after the last. */
  readonly next: C | undefined;
}

export interface ListRead<T> {
  readonly found: readonly T[];
  /** The list was read to its end. */
  readonly complete: boolean;
}

/** Reads page by page, and keeps what is wanted. */
export async function readPages<T, C>(
  pageAt: (cursor: C | undefined) => Promise<Page<T, C>>,
  isWanted: (item: T) => boolean,
): Promise<ListRead<T>> {
  const found: T[] = [];
  let cursor: C | undefined;
  for (let count = 0; count < MOST_PAGES; count += 1) {
    const { items, next } = await pageAt(cursor);
    found.push(...items.filter(isWanted));
    if (next === undefined) return { found, complete: true };
    cursor = next;
  }
  return { found, complete: false };
}

/** Of a recipe whose list lags, and whose service does not publish how far. */
export interface LagOptions {
  /**
   * You know how far the list lags, and your `commitsWithinMs` is longer. Without it, what is not found is never proof that it is
   * not there, whatever `commitsWithinMs` says. @default false
   */
  readonly windowCoversLag?: boolean | undefined;
}

/** What a list says of what is not in it. */
export const foundIn = <T>(
  { found, complete }: ListRead<T>,
  { lags = false }: { readonly lags?: boolean } = {},
): Found<T> => ({
  results: found,
  unsure: lags
    ? "the list lags, and how far is not published"
    : complete
      ? undefined
      : "the list is longer than is read",
});

/** Items that carry our key, told apart by the service's own id: a list may move while it is read. */
export const readingOf = <T, R>(
  read: ListRead<T>,
  resultOf: (item: T) => R,
  idOf: (result: R) => string,
  about: { readonly lags?: boolean } = {},
): Reading<R> =>
  readingByStanding(
    foundIn({ ...read, found: read.found.map(resultOf) }, about),
    () => "done",
    idOf,
  );
