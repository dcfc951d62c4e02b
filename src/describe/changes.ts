/**
 * What has changed in a ledger since it was last looked at.
 *
 * It looks at what is open and at what is new, never at all of the ledger: a million settled operations cost
 * nothing. What comes and goes between two looks is seen as one change. The correction of an operation that was
 * settled before the last look (a late reply) is not seen.
 *
 * @module
 */

import type { Holdfire } from "../api.ts";
import type { OperationQuery, OperationView } from "../engine/admin/operations.ts";
import { engineOf } from "../engine/engine-of.ts";

/** A write that began earlier may show up later: each look goes back this far. */
const OVERLAP_MS = 30_000;
const PAGE = 500;

/** Returns a function that returns what has changed since it was last called, the oldest change first. */
export function changesIn(
  hf: Holdfire,
  signal: AbortSignal,
): () => Promise<readonly OperationView[]> {
  const { clock } = engineOf(hf).ledger;
  let seen = new Map<string, string>();
  let openBefore = new Set<string>();
  let lookedAt: number | undefined;

  async function collect(
    found: Map<string, OperationView>,
    query: OperationQuery,
    isWanted: (operation: OperationView) => boolean,
  ): Promise<void> {
    let cursor: string | undefined;
    do {
      const page = await hf.operations.list({ ...query, limit: PAGE, cursor });
      const wanted = page.items.filter(isWanted);
      for (const operation of wanted) found.set(operation.id, operation);
      if (wanted.length < page.items.length) return;
      ({ cursor } = page);
    } while (cursor !== undefined && !signal.aborted);
  }

  return async () => {
    await engineOf(hf).ledger.open();
    const since = (lookedAt ?? clock.earliest()) - OVERLAP_MS;
    lookedAt = clock.earliest();
    const found = new Map<string, OperationView>();
    await collect(found, { open: true }, () => true);
    const open = new Set(found.keys());
    // The newest come first, so the first that is older than that ends the look.
    await collect(found, { newestFirst: true }, ({ createdAt }) => createdAt >= since);
    // What was open and is not any more: settled in between, however long ago it was made.
    for (const id of openBefore) {
      if (open.has(id) || found.has(id)) continue;
      const settled = await hf.operations.get(id);
      if (settled) found.set(id, settled);
    }
    openBefore = open;
    const changed = [...found.values()].filter((one) => seen.get(one.id) !== fingerprintOf(one));
    seen = new Map([...found].map(([id, operation]) => [id, fingerprintOf(operation)]));
    return changed.sort((one, other) => one.at - other.at);
  };
}

/** What makes two states of one operation different. */
const fingerprintOf = ({ status, at, fired, evidence, answers }: OperationView): string =>
  [status, at, fired, evidence.length, answers.length].join(" ");
