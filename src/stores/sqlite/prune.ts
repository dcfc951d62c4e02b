/**
 * Wipes and removes what is old enough, a few rows at a time.
 *
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { pruneAs, wipePayloads } from "../../ledger/prune.ts";
import type { PruneDone, PruneJob } from "./job.ts";
import { NO_PARTS } from "./payloads.ts";
import { recordOf, rowOf, STAGE } from "./row.ts";
import { remove } from "./swap.ts";
import type { Tables, Turn } from "./tables.ts";

export type Prune = (job: PruneJob, turn: Turn) => PruneDone;

const OLDEST = `
  SELECT seq FROM operation INDEXED BY operation_stage
  WHERE tenant = ? AND stage = ? AND settled_at < ?
  ORDER BY settled_at LIMIT ?`;

export function pruneOf(db: DatabaseSync, tables: Tables): Prune {
  const { tenants, operations, payloads } = tables;
  const oldest = db.prepare(OLDEST);

  return ({ query, limit }, turn) => {
    const tenant = tenants.find(query.tenant);
    const ids: string[] = [];
    let tombstones = 0;
    if (tenant === undefined) return { payloads: 0, tombstones, ids };
    for (const seq of candidates(oldest, tenant, query, turn.now, limit)) {
      const lying = operations.at(seq);
      if (!lying) continue;
      const record = recordOf(query.tenant, operations.whole(lying));
      const fate = pruneAs(record, query, turn.now);
      if (fate === "keep") continue;
      const version = turn.upcoming();
      turn.take();
      ids.push(lying.id);
      if (fate === "remove") {
        remove(tables, query.tenant, lying);
        tombstones += 1;
        continue;
      }
      payloads.remove(lying.parts);
      const row = rowOf(wipePayloads(record));
      operations.update(seq, { row, version, lease: lying.lease, parts: NO_PARTS });
    }
    return { payloads: ids.length - tombstones, tombstones, ids };
  };
}

/** Rows old enough by what the index knows: first those to remove, then those to wipe. */
function candidates(
  oldest: StatementSync,
  tenant: number,
  { payloadsOlderThanMs, tombstonesOlderThanMs }: PruneJob["query"],
  now: number,
  limit: number,
): ReadonlySet<number> {
  const found = new Set<number>();
  const look = (stage: number, ms: number | undefined) => {
    if (ms === undefined || found.size >= limit) return;
    for (const { seq } of oldest.iterate(tenant, stage, now - Math.max(ms, 0), limit)) {
      if (found.size < limit) found.add(Number(seq));
    }
  };
  look(STAGE.wiped, tombstonesOlderThanMs);
  look(STAGE.settled, tombstonesOlderThanMs);
  look(STAGE.settled, payloadsOlderThanMs);
  return found;
}
