/**
 * What age does to a record: its payloads go first, then the record. An open one does not age.
 *
 * Pure, so that every store prunes alike.
 *
 * @module
 */

import { isOpen, type OperationRecord } from "./record.ts";
import type { PruneQuery } from "./store.ts";

/** What `query` asks to be done with the record at `now`, on the store's clock. */
export function pruneAs(
  record: OperationRecord,
  { payloadsOlderThanMs, tombstonesOlderThanMs }: PruneQuery,
  now: number,
): "keep" | "wipe" | "remove" {
  if (isOpen(record.state)) return "keep";
  const isOlderThan = (ms: number | undefined) =>
    ms !== undefined && record.stateAt < now - Math.max(ms, 0);
  if (isOlderThan(tombstonesOlderThanMs)) return "remove";
  return isOlderThan(payloadsOlderThanMs) && hasPayload(record) ? "wipe" : "keep";
}

/** The record as a tombstone: what happened, without what was said. */
export function wipePayloads(record: OperationRecord): OperationRecord {
  const { state } = record;
  return {
    ...record,
    state: state.tag === "committed" ? { ...state, payload: undefined } : state,
    intent: undefined,
    precondition: undefined,
    evidence: record.evidence.map((evidence) => ({ ...evidence, payload: undefined })),
  };
}

function hasPayload({ state, intent, precondition, evidence }: OperationRecord): boolean {
  return (
    (state.tag === "committed" && state.payload !== undefined) ||
    intent !== undefined ||
    precondition !== undefined ||
    evidence.some(({ payload }) => payload !== undefined)
  );
}
