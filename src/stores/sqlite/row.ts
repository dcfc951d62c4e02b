/**
 * A record as the database keeps it, and back: the packed text, and beside it what indexes need.
 *
 * The result goes to a table of its own. So a row hardly grows when it is settled, and nothing in
 * the middle of its table has to move.
 *
 * @module
 */

import { StoreUnavailableError } from "../../errors.ts";
import { pruneAs } from "../../ledger/prune.ts";
import { isOpen, type OperationRecord, type Stored } from "../../ledger/record.ts";
import { packRecord, unpackRecord } from "../../ledger/record-text.ts";
import { hashOf } from "./hash.ts";

/** How far a row is from being nothing. On disk. */
export const STAGE = { open: 0, settled: 1, wiped: 2 } as const;

/** What is written of a record. */
export interface Row {
  readonly text: string;
  /** The text of the result, if there is one. */
  readonly payload: string | undefined;
  readonly stage: number;
  /** When it was settled; `null` while it is open. */
  readonly settledAt: number | null;
  /** A number for its resource, to find its neighbours by. */
  readonly resource: number | null;
}

/** What is read of a record. Plain data: it may come from another thread. */
export interface ReadRow {
  readonly seq: number;
  readonly version: number;
  readonly lease: number | null;
  readonly id: string;
  readonly text: string;
  readonly payload: string | undefined;
}

/** What a settled row gains over its claim: how the attempt ended. */
const ROOM_TO_SETTLE = 64;

export function rowOf(record: OperationRecord): Row {
  const { state, tenant, resource } = record;
  const payload = state.tag === "committed" ? state.payload : undefined;
  const packed = packRecord(
    state.tag === "committed" && payload
      ? { ...record, state: { ...state, payload: { ...payload, text: "" } } }
      : record,
  );
  const stage = stageOf(record);
  return {
    // A claim takes the room that its outcome will need, but for what the intent gives back.
    text: state.tag === "claimed" ? pad(packed, record.intent?.text.length ?? 0) : packed,
    payload: payload?.text,
    stage,
    settledAt: stage === STAGE.open ? null : record.stateAt,
    resource: resource === undefined ? null : hashOf(tenant, resource),
  };
}

export function storedOf(tenant: string, row: ReadRow): Stored {
  const { version, lease } = row;
  return { record: recordOf(tenant, row), version, leaseUntil: lease ?? undefined };
}

export function recordOf(
  tenant: string,
  { id, text, payload }: Pick<ReadRow, "id" | "text" | "payload">,
): OperationRecord {
  const record = unpack(text, tenant, id);
  const { state } = record;
  if (payload === undefined || state.tag !== "committed" || !state.payload) return record;
  return { ...record, state: { ...state, payload: { ...state.payload, text: payload } } };
}

function unpack(text: string, tenant: string, id: string): OperationRecord {
  try {
    return unpackRecord(text, tenant, id);
  } catch (error) {
    throw new StoreUnavailableError("unpack", error);
  }
}

/** The age at which everything is wiped tells what there is to wipe. */
const EVERY_PAYLOAD = { tenant: "", payloadsOlderThanMs: 0 };

function stageOf(record: OperationRecord): number {
  if (isOpen(record.state)) return STAGE.open;
  const isKept = pruneAs(record, EVERY_PAYLOAD, Number.POSITIVE_INFINITY) === "wipe";
  return isKept ? STAGE.settled : STAGE.wiped;
}

/** JSON does not mind space at its end. */
const pad = (text: string, freed: number): string =>
  text.padEnd(text.length + Math.max(ROOM_TO_SETTLE - freed, 0));
