/**
 * Numbered places of operations that have something in common, in the order in which they came, for all processes: each
 * takes the place after the last. A place is kept as an effect is, since a store finds that by name, gives it to the
 * first who asks, and lets it go with its operation.
 *
 * A place that was let go would hide those after it. So a mark that stays stands between two places, and the places end
 * where there is none.
 *
 * @module
 */

import { digestText } from "../key/digest.ts";
import type { Store } from "./store.ts";

/** No service of a user's, and no operation's id: both have a control character. Stores keep them, as they keep "row" below. */
const PLACES = "\u001erow";
const MARK = "\u001emark";

export interface Places {
  /** The first answer of `visit` on those that have a place, oldest first; `undefined` if it has none. */
  find<T>(visit: (id: string, isLast: boolean) => Promise<T | undefined>): Promise<T | undefined>;
  /** The same, but `id` takes the place at the end, and is visited there, unless an answer came before. */
  join<T>(
    id: string,
    visit: (id: string, isLast: boolean) => Promise<T | undefined>,
  ): Promise<T | undefined>;
}

/** The places under this name. `ask` puts each question to the store within its time. */
export function placesOf(
  {
    store,
    tenant,
    name,
  }: { readonly store: Store; readonly tenant: string; readonly name: string },
  ask: <T>(question: Promise<T>) => Promise<T>,
): Places {
  const place = (n: number) => digestText("row", name, String(n));
  const mark = (n: number) => digestText("row-goes-on", name, String(n));

  async function walk<T>(
    visit: (id: string, isLast: boolean) => Promise<T | undefined>,
    joins: string | undefined,
  ): Promise<T | undefined> {
    for (let n = 0; ; n += 1) {
      const looking = [place(n), mark(n)].map((each) => store.ownerOf(tenant, PLACES, each));
      const [found, further] = await ask(Promise.all(looking));
      const isLast = further === undefined;
      const isFree = found === undefined && isLast && joins !== undefined;
      const owner = isFree ? await ask(store.own(tenant, PLACES, place(n), joins)) : found;
      const answer = owner === undefined ? undefined : await visit(owner, isLast);
      if (answer !== undefined) return answer;
      if (isLast && (joins === undefined || owner === joins)) return undefined;
      if (isLast) await ask(store.own(tenant, PLACES, mark(n), mark(n) + MARK));
    }
  }

  return {
    find: (visit) => walk(visit, undefined),
    join: (id, visit) => walk(visit, id),
  };
}
