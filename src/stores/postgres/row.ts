/**
 * A change as the values of its row, and a stored row as the record it holds.
 *
 * A change is checked here, before it joins others in a statement: one that Postgres would refuse
 * must not take the rest down with it.
 *
 * @module
 */

import { hash } from "node:crypto";
import { InvalidInputError } from "../../errors.ts";
import { packRecord, unpackRecord } from "../../ledger/codec/record-text.ts";
import { pruneAs } from "../../ledger/prune.ts";
import { isOpen, type OperationRecord, type Stored } from "../../ledger/record.ts";
import type { Change, LaneRecord, StoredLane } from "../../ledger/store.ts";

/** Open; settled, with a payload to wipe; settled, without. */
export type Phase = 0 | 1 | 2;

/** One change, ready to be bound. */
export interface Move {
  readonly change: Change;
  readonly key: string;
  /** Milliseconds; `KEEP_LEASE`; nothing for no lease. */
  readonly lease: number | undefined;
  readonly phase: Phase;
  /** The packed record; `undefined` removes it. */
  readonly text: string | undefined;
  readonly lane: MoveOfLane | undefined;
}

interface MoveOfLane {
  readonly key: string;
  readonly expect: number;
  readonly name: string;
  /** `undefined` removes it. */
  readonly text: string | undefined;
}

type Text = string | null | undefined;

const KEEP_LEASE = -1;
const LONE_SURROGATE = /\p{Surrogate}/u;

export function moveOf(change: Change): Move {
  const { tenant, id, expect, record, lane } = change;
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
    lease: leaseOf(change),
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

/**
 * The key of a row: 128 bits of a hash of what names it, as Postgres writes a uuid. The names are joined
 * by what none of them contains, so that no two lists of names are one text.
 */
export function keyOf(tenant: string, ...names: readonly string[]): string {
  checkText(tenant, "tenant");
  for (const name of names) checkText(name, "id");
  const hex = hash("sha256", `${tenant}\0${names.join("\0")}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** Postgres keeps no NUL, and half a character would come back as another. */
export function checkText(text: string, path: string): string {
  if (text.includes("\0") || LONE_SURROGATE.test(text)) {
    throw new InvalidInputError(path, "must be well-formed Unicode without NUL.");
  }
  return text;
}

function checkVersion(version: number, path: string): number {
  if (Number.isSafeInteger(version) && version >= 0) return version;
  throw new InvalidInputError(path, "must be a version: a whole number from 0 on.");
}

function leaseOf({ lease, expect }: Change): number | undefined {
  if (lease === "none") return undefined;
  // A new record has no lease to keep.
  if (lease === "keep") return expect === 0 ? undefined : KEEP_LEASE;
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

/** Nothing if the row has no version: there is none. */
export function storedIn(
  tenant: string,
  id: string,
  [version, lease, text]: readonly Text[],
): Stored | undefined {
  if (typeof version !== "string" || typeof text !== "string") return undefined;
  const record = unpackRecord(text, tenant, id);
  const leaseUntil = leaseIn(lease);
  return { record, version: Number(version), leaseUntil, stamp: stampOf(record) };
}

/** It has a column of its own, and no two owners claim within the same instant. */
export const stampOf = ({ stateAt }: OperationRecord): string => String(stateAt);

export const laneIn = ([version, text]: readonly Text[]): StoredLane | undefined =>
  typeof version === "string" && typeof text === "string"
    ? { lane: JSON.parse(text) as LaneRecord, version: Number(version) }
    : undefined;

export const leaseIn = (lease: Text): number | undefined =>
  typeof lease === "string" ? Number(lease) : undefined;
