/**
 * Decides what pruning does to a record by its age: payloads are wiped first, then the record is
 * removed. An open operation is never pruned.
 *
 * Pure, so that every store prunes by the same rule.
 *
 * @module
 */

import { isOpen, type OperationRecord } from "./record.ts";
import type { PruneQuery } from "./store.ts";

/** What the query does to the record at `now`, on the store's clock. */
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

/** The record as a tombstone: what happened, without arguments, results and the text of errors. */
export function wipePayloads(record: OperationRecord): OperationRecord {
  const { state } = record;
  return {
    ...record,
    state: state.tag === "committed" ? { ...state, payload: undefined } : state,
    intent: undefined,
    precondition: undefined,
    attempts: record.attempts.map((attempt) =>
      attempt.failure?.text
        ? { ...attempt, failure: { ...attempt.failure, text: undefined } }
        : attempt,
    ),
    evidence: record.evidence.map((evidence) => ({ ...evidence, payload: undefined })),
  };
}

/** Whether there is anything to wipe. */
export function hasPayload({
  state,
  intent,
  precondition,
  attempts,
  evidence,
}: OperationRecord): boolean {
  return (
    (state.tag === "committed" && state.payload !== undefined) ||
    intent !== undefined ||
    precondition !== undefined ||
    attempts.some(({ failure }) => failure?.text !== undefined) ||
    evidence.some(({ payload }) => payload !== undefined)
  );
}
