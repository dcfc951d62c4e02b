/**
 * What is open: how many by status, the unknown that waits longest, and the resources whose writes wait for one another.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import { visible } from "../../key/escape-hidden.ts";
import type { StateTag } from "../../ledger/record.ts";
import type { Health, LaneRow } from "../model.ts";
import { rowOf } from "./rows.ts";

const PAGE = 1_000;
const MOST_READ = 10_000;
const MOST_LANES = 20;

export async function openFacts(hf: Holdfire): Promise<Health["open"]> {
  const byStatus: Partial<Record<StateTag, number>> = {};
  const byResource = new Map<string, OperationView[]>();
  let oldestUnknown: OperationView | undefined;
  let read = 0;
  let cursor: string | undefined;
  do {
    const page = await hf.operations.list({ open: true, limit: PAGE, cursor });
    for (const operation of page.items) {
      const { status, resource, at } = operation;
      byStatus[status] = (byStatus[status] ?? 0) + 1;
      const isOlder = oldestUnknown === undefined || at < oldestUnknown.at;
      if (status === "unknown" && isOlder) oldestUnknown = operation;
      if (resource !== undefined) {
        byResource.set(resource, [...(byResource.get(resource) ?? []), operation]);
      }
    }
    read += page.items.length;
    ({ cursor } = page);
  } while (cursor !== undefined && read < MOST_READ);
  const lanes = [...byResource].map(([resource, open]) => laneOf(resource, open));
  return {
    byStatus,
    complete: cursor === undefined,
    oldestUnknown: oldestUnknown && rowOf(oldestUnknown),
    lanes: lanes
      .filter(({ waiting, holder }) => waiting > 0 || holder?.status === "unknown")
      .sort((one, other) => other.waiting - one.waiting)
      .slice(0, MOST_LANES),
  };
}

/** The one that was sent or may have been holds the lane; those that are queued wait. */
function laneOf(resource: string, open: readonly OperationView[]): LaneRow {
  const holder = open.find(({ status }) => status === "claimed" || status === "unknown");
  const queued = open.filter(({ status }) => status === "queued");
  const times = queued.map(({ createdAt }) => createdAt);
  return {
    resource: visible(resource, 200),
    holder: holder && rowOf(holder),
    waiting: queued.length,
    since: times.length > 0 ? Math.min(...times) : undefined,
  };
}
