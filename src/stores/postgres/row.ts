/**
 * A change as the columns it is written to, and a stored row as the record it holds.
 *
 * A change is checked here, before it joins others in a statement: one that Postgres would refuse
 * must not take the rest down with it.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { pruneAs } from "../../ledger/prune.ts";
import { isOpen, type OperationRecord, type Stored } from "../../ledger/record.ts";
import { packRecord, unpackRecord } from "../../ledger/record-text.ts";
import type { Change, LaneRecord, LeaseChange, StoredLane } from "../../ledger/store.ts";
import { checkText, keyOf } from "./key.ts";

/** Open; settled, with a payload to wipe; settled, without. */
export type Phase = 0 | 1 | 2;

export interface AskedLane {
  readonly key: string;
  readonly expect: number;
  readonly name: string;
  /** `undefined` removes it. */
  readonly text: string | undefined;
}

/** One change, ready to be bound. */
export interface Asked {
  readonly change: Change;
  readonly key: string;
  /** Milliseconds, `"keep"` as -1, `"none"` as nothing. */
  readonly lease: number | undefined;
  readonly phase: Phase;
  /** The packed record; `undefined` removes it. Never holds a line break. */
  readonly text: string | undefined;
  readonly lane: AskedLane | undefined;
}

export const KEEP_LEASE = -1;

export function askedOf(change: Change): Asked {
  const { tenant, id, expect, record, lease, lane } = change;
  checkVersion(expect, "change.expect");
  if (record) {
    checkText(record.tool, "record.tool");
    checkText(record.scope, "record.scope");
    checkText(record.resource ?? "", "record.resource");
    if (!Number.isFinite(record.stateAt)) {
      throw new InvalidInputError("record.stateAt", "must be a finite number.");
    }
  }
  return {
    change,
    key: keyOf(tenant, id),
    lease: leaseOf(lease),
    phase: record ? phaseOf(record) : 0,
    text: record && packRecord(record),
    lane: lane && {
      key: keyOf(tenant, lane.name),
      expect: checkVersion(lane.expect, "change.lane.expect"),
      name: lane.name,
      text: lane.lane && JSON.stringify(lane.lane),
    },
  };
}

function checkVersion(version: number, path: string): number {
  if (Number.isSafeInteger(version) && version >= 0) return version;
  throw new InvalidInputError(path, "must be a version: a whole number from 0 on.");
}

function leaseOf(lease: LeaseChange): number | undefined {
  if (lease === "none") return undefined;
  if (lease === "keep") return KEEP_LEASE;
  if (!Number.isFinite(lease)) {
    throw new InvalidInputError("change.lease", "must be a finite number of milliseconds.");
  }
  return Math.max(Math.round(lease), 0);
}

function phaseOf(record: OperationRecord): Phase {
  if (isOpen(record.state)) return 0;
  // Asked at the end of time: is there anything that age would wipe?
  const all = { tenant: record.tenant, payloadsOlderThanMs: 0 };
  return pruneAs(record, all, Number.POSITIVE_INFINITY) === "wipe" ? 1 : 2;
}

export const leaseIn = (text: string | null | undefined): number | undefined =>
  text === null || text === undefined ? undefined : Number(text);

export const storedIn = (
  tenant: string,
  id: string,
  version: string,
  lease: string | null | undefined,
  text: string,
): Stored => ({
  record: unpackRecord(text, tenant, id),
  version: Number(version),
  leaseUntil: leaseIn(lease),
});

export const laneIn = (
  version: string | null | undefined,
  text: string | null | undefined,
): StoredLane =>
  version === null || version === undefined || text === null || text === undefined
    ? { lane: { queue: [] }, version: 0 }
    : { lane: JSON.parse(text) as LaneRecord, version: Number(version) };
