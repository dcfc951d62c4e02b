/**
 * Wipes and removes what is old, by the same compare-and-swap as every other change: a record that
 * somebody has just opened again is left alone.
 *
 * @module
 */

import { pruneAs, wipePayloads } from "../../ledger/prune.ts";
import { pruneLimit } from "../../ledger/query.ts";
import type { Change, Pruned, PruneQuery, Swapped } from "../../ledger/store.ts";
import type { Session } from "./connection.ts";
import { readSlice } from "./list.ts";
import type { Names } from "./names.ts";
import type { Phase } from "./row.ts";

export interface PruneOptions {
  readonly session: Session;
  readonly names: Names;
  readonly swap: (change: Change) => Promise<Swapped>;
  readonly now: () => Promise<number>;
}

const SLICE = 250;

export async function pruneRecords(
  { session, names, swap, now: ask }: PruneOptions,
  query: PruneQuery,
): Promise<Pruned> {
  const { tenant, payloadsOlderThanMs, tombstonesOlderThanMs } = query;
  const limit = pruneLimit(query.limit);
  const now = await ask();
  let payloads = 0;
  let tombstones = 0;

  async function prune(phase: Phase, ages: readonly (number | undefined)[]): Promise<void> {
    const age = Math.min(...ages.map((ms) => (ms === undefined ? Infinity : Math.max(ms, 0))));
    let cursor: string | undefined;
    while (Number.isFinite(age) && payloads + tombstones < limit) {
      const size = Math.min(SLICE, limit - payloads - tombstones);
      const { items, isLast } = await readSlice(session, names, { tenant, cursor }, size, [phase]);
      await Promise.all(
        items.map(async ({ record, version: expect }) => {
          const fate = pruneAs(record, query, now);
          if (fate === "keep") return;
          const kept = fate === "wipe" ? wipePayloads(record) : undefined;
          const { id } = record;
          const swapped = await swap({ tenant, id, expect, record: kept, lease: "keep" });
          if (!swapped.ok) return;
          if (kept) payloads += 1;
          else tombstones += 1;
        }),
      );
      const last = items.at(-1);
      // In the order of creation: whatever comes after this one was settled later still.
      if (isLast || !last || last.record.createdAt >= now - age) return;
      cursor = last.seq;
    }
  }

  await prune(1, [payloadsOlderThanMs, tombstonesOlderThanMs]);
  await prune(2, [tombstonesOlderThanMs]);
  return { payloads, tombstones };
}
