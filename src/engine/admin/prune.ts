/**
 * Retention: wipes old payloads, and old tombstones where that is asked for, a little at a time.
 *
 * @module
 */

import { operationScope } from "../../key/scope.ts";
import type { OperationRecord, StateTag } from "../../ledger/record.ts";
import type { Pruned } from "../../ledger/store.ts";
import { checkOptions, positive } from "../define/check.ts";
import type { Engine } from "../engine.ts";
import { askStore, listRecords } from "../store-call.ts";

export interface PruneOptions {
  /** Results older than this, in milliseconds, are wiped; that they were committed is kept. @default 30 days */
  readonly payloadsOlderThanMs?: number | undefined;
  /**
   * Settled operations older than this, in milliseconds, are forgotten: the same call would fire again. None is, that was
   * settled since an operation began that has others inside it and is open: it may run again, and these are then replayed.
   *
   * @default never
   */
  readonly tombstonesOlderThanMs?: number | undefined;
  /** Stops between two steps; what was wiped stays wiped. */
  readonly signal?: AbortSignal | undefined;
  /** Hears how many it has been so far. What it throws ends the work. */
  readonly onProgress?: ((soFar: Pruned) => void) | undefined;
}

const OPTIONS = ["payloadsOlderThanMs", "tombstonesOlderThanMs", "signal", "onProgress"];

const THIRTY_DAYS_MS = 30 * 24 * 3_600_000;
/** Small, so that no call waits long for the store in between. */
const AT_ONCE = 100;
/** The store's time goes on while it is pruned. */
const LONGEST_PRUNE_MS = 24 * 3_600_000;

const MAY_RUN_AGAIN: readonly StateTag[] = ["claimed", "unknown"];

export async function prune(options: PruneOptions, engine: Engine): Promise<Pruned> {
  checkOptions(options, OPTIONS, "prune");
  const { payloadsOlderThanMs = THIRTY_DAYS_MS, tombstonesOlderThanMs, signal } = options;
  positive(payloadsOlderThanMs, "prune.payloadsOlderThanMs", true);
  if (tombstonesOlderThanMs !== undefined) {
    positive(tombstonesOlderThanMs, "prune.tombstonesOlderThanMs", true);
  }
  const { ledger, tenant } = engine;
  await askStore(engine, "open", ledger.open());
  const forgottenMs = tombstonesOlderThanMs && (await forgetAfterMs(tombstonesOlderThanMs, engine));
  const query = {
    tenant,
    payloadsOlderThanMs,
    tombstonesOlderThanMs: forgottenMs,
    limit: AT_ONCE,
  };
  const total = { payloads: 0, tombstones: 0 };
  for (;;) {
    const { payloads, tombstones } = await askStore(engine, "prune", ledger.store.prune(query));
    total.payloads += payloads;
    total.tombstones += tombstones;
    options.onProgress?.({ ...total });
    if (payloads + tombstones < AT_ONCE || signal?.aborted) return total;
  }
}

/** The age that was asked for, or more: what was done since the oldest open operation began that has others inside it is kept. */
async function forgetAfterMs(askedMs: number, engine: Engine): Promise<number> {
  const now = engine.ledger.clock.latest();
  let cursor: string | undefined;
  do {
    const page = await listRecords(engine, { states: MAY_RUN_AGAIN, cursor }, "prune");
    for (const { record } of page.items) {
      const ageMs = now - record.createdAt;
      // In the order of creation: what began later has nothing inside it that is old enough.
      if (ageMs < askedMs) return askedMs;
      if (await mayReplayInner(record, engine)) return ageMs + LONGEST_PRUNE_MS;
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return askedMs;
}

async function mayReplayInner(record: OperationRecord, engine: Engine): Promise<boolean> {
  const { id, abandonedFor, attempts } = record;
  if (abandonedFor !== undefined) return false;
  if (attempts.some(({ innerOnly }) => innerOnly !== undefined)) return true;
  const inside = { scope: operationScope(id).id, limit: 1 };
  return (await listRecords(engine, inside, "prune")).items.length > 0;
}
