/**
 * Retention: wipes old payloads, and old tombstones where that is asked for, a little at a time.
 *
 * @module
 */

import type { Pruned } from "../../ledger/store.ts";
import { checkOptions, positive } from "../define/check.ts";

import type { Engine } from "../engine.ts";
import { askStore } from "../store-call.ts";

export interface PruneOptions {
  /** Results older than this, in milliseconds, are wiped; that they were committed is kept. @default 30 days */
  readonly payloadsOlderThanMs?: number | undefined;
  /**
   * Settled operations older than this, in milliseconds, are forgotten: the same call would fire again.
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

export async function prune(options: PruneOptions, engine: Engine): Promise<Pruned> {
  checkOptions(options, OPTIONS, "prune");
  const { payloadsOlderThanMs = THIRTY_DAYS_MS, tombstonesOlderThanMs, signal } = options;
  positive(payloadsOlderThanMs, "prune.payloadsOlderThanMs", true);
  if (tombstonesOlderThanMs !== undefined) {
    positive(tombstonesOlderThanMs, "prune.tombstonesOlderThanMs", true);
  }
  const { ledger, tenant } = engine;
  await askStore(engine, "open", ledger.open());
  const query = { tenant, payloadsOlderThanMs, tombstonesOlderThanMs, limit: AT_ONCE };
  const total = { payloads: 0, tombstones: 0 };
  for (;;) {
    const { payloads, tombstones } = await askStore(engine, "prune", ledger.store.prune(query));
    total.payloads += payloads;
    total.tombstones += tombstones;
    options.onProgress?.({ ...total });
    if (payloads + tombstones < AT_ONCE || signal?.aborted) return total;
  }
}
