/**
 * A row of operations that have something in common, in the order in which they came, for all processes: each takes
 * the place after the last. Places are kept as effects are, since stores find those by name, give one to the first
 * who asks, and let it go with its operation.
 *
 * A place that was let go would hide those after it. So a mark that stays stands between two places, and the row ends
 * where there is none.
 *
 * @module
 */

import { digestText } from "../key/digest.ts";
import type { Store } from "./store.ts";

/** No service of a user's, and no operation's id: both have a control character. */
const ROWS = "\u001erow";
const MARK = "\u001emark";

export interface Row {
  /** The first answer of `visit` on those in the row, oldest first; `undefined` if it has none. */
  find<T>(visit: (id: string, isLast: boolean) => Promise<T | undefined>): Promise<T | undefined>;
  /** The same, but `id` takes the place at the end of the row, and is visited there, unless an answer came before. */
  join<T>(
    id: string,
    visit: (id: string, isLast: boolean) => Promise<T | undefined>,
  ): Promise<T | undefined>;
}

/** The row of this name. `ask` puts each question to the store within its time. */
export function rowOf(
  {
    store,
    tenant,
    name,
  }: { readonly store: Store; readonly tenant: string; readonly name: string },
  ask: <T>(question: Promise<T>) => Promise<T>,
): Row {
  const place = (n: number) => digestText("row", name, String(n));
  const mark = (n: number) => digestText("row-goes-on", name, String(n));

  async function walk<T>(
    visit: (id: string, isLast: boolean) => Promise<T | undefined>,
    joins: string | undefined,
  ): Promise<T | undefined> {
    for (let n = 0; ; n += 1) {
      const looking = [place(n), mark(n)].map((each) => store.ownerOf(tenant, ROWS, each));
      const [found, further] = await ask(Promise.all(looking));
      const isLast = further === undefined;
      const isFree = found === undefined && isLast && joins !== undefined;
      const owner = isFree ? await ask(store.own(tenant, ROWS, place(n), joins)) : found;
      const answer = owner === undefined ? undefined : await visit(owner, isLast);
      if (answer !== undefined) return answer;
      if (isLast && (joins === undefined || owner === joins)) return undefined;
      if (isLast) await ask(store.own(tenant, ROWS, mark(n), mark(n) + MARK));
    }
  }

  return {
    find: (visit) => walk(visit, undefined),
    join: (id, visit) => walk(visit, id),
  };
}
