/**
 * What the Stripe recipes share: the key in the metadata, and the list it is found in.
 *
 * Read by list and never by search, for only a list has what was just made.
 *
 * @module
 */

import type { Reading } from "../engine/define/reading.ts";
import { lookThrough, readingOf } from "./look.ts";

/** What the recipes need of a Stripe object. */
export interface StripeObject {
  readonly id: string;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** One page of a Stripe list. */
export interface StripePage<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

/** Where a page begins. */
export interface StripePaging {
  readonly limit: number;
  readonly starting_after?: string;
}

/** The second argument of a Stripe `create`. */
export interface StripeKeyed {
  readonly idempotencyKey: string;
}

/** Metadata by which the object is found again. */
export interface StripeMark {
  readonly metadata: { readonly holdfire_key: string };
}

export const marked = (key: string): StripeMark => ({ metadata: { holdfire_key: key } });

export const idOf = ({ id }: StripeObject): string => id;

const PAGE = 100;

/** Looks for the object that carries one of the keys. */
export async function readByKey<R extends StripeObject>(
  keys: readonly string[],
  list: (paging: StripePaging) => Promise<StripePage<R>>,
): Promise<Reading<R>> {
  const looked = await lookThrough<R, string>(
    async (cursor) => {
      const after = cursor === undefined ? {} : { starting_after: cursor };
      const { data, has_more } = await list({ limit: PAGE, ...after });
      const last = data.at(-1)?.id;
      if (has_more && last === undefined) throw new Error("A page is empty, and not the last.");
      return { items: data, next: has_more ? last : undefined };
    },
    ({ metadata }) => keys.includes(metadata?.holdfire_key ?? ""),
  );
  return readingOf(looked, (found) => found, idOf);
}
