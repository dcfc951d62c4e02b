/**
 * Prunes a tenant's settled records, each by the same compare-and-swap as any change.
 *
 * @module
 */

import { pruneAs, wipePayloads } from "../../ledger/prune.ts";
import { pruneLimit } from "../../ledger/query.ts";
import type { StateTag, Stored } from "../../ledger/record.ts";
import type { Change, Pruned, PruneQuery, Swapped } from "../../ledger/store.ts";
import { listRecords } from "./list.ts";
import { READ, type Session } from "./session.ts";

const SETTLED: readonly StateTag[] = ["committed", "not_applied", "denied"];
const AT_ONCE = 128;

export function createPruner(
  session: Session,
  swap: (change: Change) => Promise<Swapped>,
): (query: PruneQuery) => Promise<Pruned> {
  /** Where a pruning stopped at its limit. The next goes on there: what is pruned already is long. */
  let stopped: { readonly asked: string; readonly cursor: string | undefined } | undefined;

  return async (query) => {
    const { tenant, payloadsOlderThanMs, tombstonesOlderThanMs } = query;
    const asked = JSON.stringify([tenant, payloadsOlderThanMs, tombstonesOlderThanMs]);
    let cursor = stopped?.asked === asked ? stopped.cursor : undefined;
    let left = pruneLimit(query.limit);
    stopped = undefined;
    const pruned = { payloads: 0, tombstones: 0 };
    const { now } = await session.ask(0, READ, []);

    async function pruneOne({ record, version }: Stored): Promise<void> {
      const removes = pruneAs(record, query, now) === "remove";
      const { ok } = await swap({
        tenant,
        id: record.id,
        expect: version,
        record: removes ? undefined : wipePayloads(record),
        lease: "keep",
      });
      // Another writer may have changed it, which makes it young again.
      if (ok) pruned[removes ? "tombstones" : "payloads"] += 1;
    }

    for (;;) {
      const page = await listRecords(session, { tenant, states: SETTLED, cursor, limit: AT_ONCE });
      const due = page.items
        .filter(({ record }) => pruneAs(record, query, now) !== "keep")
        .slice(0, left);
      await Promise.all(due.map(pruneOne));
      left -= due.length;
      if (left === 0) stopped = { asked, cursor };
      if (left === 0 || page.cursor === undefined) return pruned;
      cursor = page.cursor;
    }
  };
}
