/**
 * A process that comes after the storm: it settles what was left open, and reports what it found.
 *
 * @module
 */

import { createHoldfire } from "../../src/create.ts";
import type { OperationView } from "../../src/engine/admin/operations.ts";
import { fileWitness } from "../../src/ledger/witness/witness-file.ts";
import type { DriftReport } from "../../src/reconcile/drift-report.ts";
import type { ReconcileReport } from "../../src/reconcile/report.ts";
import { hangUp, hear, tell } from "./parent.ts";
import { openPlace, type Place } from "./place.ts";
import { LEASE_MS, stormTools } from "./reconcile-tools.ts";

export interface ReconcileOrder {
  readonly tag: "reconcile";
  readonly place: Place;
  readonly witness: string;
  readonly url: string;
  readonly deleted: readonly string[];
  /** Compare what is settled with what is there, in place of settling what is open. */
  readonly drift: boolean;
}

export interface ReconcileTold {
  readonly tag: "reconciled";
  readonly passes: readonly ReconcileReport[];
  readonly drift: DriftReport | undefined;
  /** Findings that were also events. */
  readonly driftEvents: number;
  readonly operations: readonly Pick<
    OperationView,
    "id" | "key" | "tool" | "status" | "reason" | "at"
  >[];
  readonly fired: number;
}

/** Told once, when so many operations have been dealt with. */
export interface ReconcileUnderWay {
  readonly tag: "under-way";
}

const UNDER_WAY = 40;
const PASSES = 60;
const PAUSE_MS = 250;
const ALL = 100_000;

const order = await hear<ReconcileOrder>("reconcile");
const { store, end } = await openPlace(order.place);
const hf = createHoldfire({
  store,
  witness: fileWitness({ folder: order.witness }),
  retry: { leaseMs: LEASE_MS, minDelayMs: 1, maxDelayMs: 20, storeTimeoutMs: 20_000 },
});
stormTools({ hf, url: order.url, deleted: order.deleted });
let fired = 0;
let driftEvents = 0;
hf.on("attempt", () => {
  fired += 1;
});
hf.on("drift", () => {
  driftEvents += 1;
});
const passes = order.drift ? [] : await settleAll();
const drift = order.drift ? await hf.driftReport({ since: 0, limit: ALL }) : undefined;
await tell<ReconcileTold>({
  tag: "reconciled",
  passes,
  drift,
  driftEvents,
  operations: await listAll(),
  fired,
});
await hf.close();
await end();
hangUp();

/** Until nobody owns anything any more, and nothing waits for its time. */
async function settleAll(): Promise<readonly ReconcileReport[]> {
  const all: ReconcileReport[] = [];
  for (let pass = 0; pass < PASSES; pass += 1) {
    const report = await hf.reconcile({
      limit: ALL,
      onProgress: ({ checked }) => {
        if (checked === UNDER_WAY) void tell<ReconcileUnderWay>({ tag: "under-way" });
      },
    });
    all.push(report);
    const waits = report.stillUnknown.some(({ reason }) => reason === "deadline");
    if (report.skipped.busy === 0 && !waits) break;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return all;
}

async function listAll(): Promise<ReconcileTold["operations"]> {
  const views: OperationView[] = [];
  let cursor: string | undefined;
  do {
    const page = await hf.operations.list({ cursor, limit: 500 });
    views.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return views.map(({ id, key, tool, status, reason, at }) => {
    return { id, key, tool, status, reason, at };
  });
}
