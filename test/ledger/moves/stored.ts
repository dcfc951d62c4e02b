/**
 * Records and answers that the tests of moves share.
 *
 * @module
 */

import type { Applied } from "../../../src/ledger/moves/apply.ts";
import type { AttemptNote, OperationRecord, State, Stored } from "../../../src/ledger/record.ts";
import { askOf, recordOf } from "../../../src/testing/record-of.ts";

export type Settled = Extract<State, { tag: "committed" | "not_applied" | "unknown" }>;

export const LEASE_ENDS = 1_000;

export const stored = (overrides: Partial<OperationRecord> = {}): Stored => ({
  record: recordOf(overrides),
  version: 1,
  leaseUntil: LEASE_ENDS,
});

export function written(applied: Applied): OperationRecord {
  if (applied.tag !== "write" || !applied.record) throw new Error(JSON.stringify(applied));
  return applied.record;
}

export const refused = (why: string): object => ({ tag: "refused", why });
export const first: AttemptNote = { n: 1, epoch: 1, generation: 0, licence: "first", at: 0 };
export const unknown: Settled = { tag: "unknown", reason: "lost_reply" };
export const yes: Settled = { tag: "committed", effect: "created", via: "reply" };
export const no: Settled = { tag: "not_applied", reason: "absent" };
export const held: Extract<State, { tag: "held" }> = { tag: "held", ask: askOf() };
