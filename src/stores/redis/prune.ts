/**
 * Prunes a tenant's records a stretch at a time, each by the same compare-and-swap as any write.
 *
 * @module
 */

import { pruneAs, wipePayloads } from "../../ledger/prune.ts";
import { pruneLimit } from "../../ledger/query.ts";
import type { Change, Pruned, PruneQuery, Swapped } from "../../ledger/store.ts";
import { type From, readIndex } from "./index-page.ts";
import type { Session } from "./session.ts";

const STRETCH = 64;
const START: Omit<Unfinished, "asked"> = { bucket: 0, from: "(0" };

/** Where a pruning that reached its limit goes on, so that the next does not start all over. */
interface Unfinished {
  readonly asked: string;
  readonly bucket: number;
  readonly from: From;
}

export function createPruner(
  session: Session,
  swap: (change: Change) => Promise<Swapped>,
): (query: PruneQuery) => Promise<Pruned> {
  let unfinished: Unfinished | undefined;

  return async (query) => {
    const { tenant, payloadsOlderThanMs, tombstonesOlderThanMs } = query;
    const asked = JSON.stringify([tenant, payloadsOlderThanMs, tombstonesOlderThanMs]);
    let { bucket, from } = unfinished?.asked === asked ? unfinished : START;
    unfinished = undefined;
    let left = pruneLimit(query.limit);
    const pruned = { payloads: 0, tombstones: 0 };
    while (bucket < session.layout.buckets) {
      const stretch = { tenant, bucket, side: "settled", from, count: STRETCH } as const;
      const { entries, last, ended, now } = await readIndex(session, stretch);
      const due = entries
        .map(({ order, stored }) => ({ order, stored, fate: pruneAs(stored.record, query, now) }))
        .filter(({ fate }) => fate !== "keep");
      const touched = due.slice(0, left);
      const swaps = await Promise.all(
        touched.map(async ({ stored: { record, version }, fate }) => {
          const { id } = record;
          const after = fate === "remove" ? undefined : wipePayloads(record);
          // Whoever was faster has made it young again.
          const { ok } = await swap({ tenant, id, expect: version, record: after, lease: "keep" });
          return ok ? fate : "keep";
        }),
      );
      pruned.payloads += swaps.filter((fate) => fate === "wipe").length;
      pruned.tombstones += swaps.filter((fate) => fate === "remove").length;
      left -= touched.length;
      if (left === 0) {
        unfinished = { asked, bucket, from: `(${touched.at(-1)?.order ?? 0}` };
        break;
      }
      if (last !== undefined) from = `(${last}`;
      if (ended) [bucket, from] = [bucket + 1, START.from];
    }
    return pruned;
  };
}
