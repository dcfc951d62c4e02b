/**
 * A record as one string in Redis: what the scripts look at, then the packed record.
 *
 * `version|lease|order|open|nonce|packed`. The order is the version it was created with, and
 * the nonce names the write that made it: a client that sends a write again after a reconnect is
 * told that it was done, not that somebody was faster.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { isOpen, type OperationRecord, type Stored } from "../../ledger/record.ts";
import { packRecord, unpackRecord } from "../../ledger/record-text.ts";
import type { LaneRecord, StoredLane } from "../../ledger/store.ts";

const NO_LANE: StoredLane = { lane: { queue: [] }, version: 0 };

/** `open|nonce|packed`: the part of a row that the server does not add. Nothing is packed to remove. */
export const tailOf = (record: OperationRecord | undefined, nonce: string): string =>
  record ? `${isOpen(record.state) ? 1 : 0}|${nonce}|${packRecord(record)}` : `0|${nonce}|`;

/** An empty row is no record. */
export function storedIn(row: string, tenant: string, id: string): Stored | undefined {
  if (row === "") return undefined;
  const [version, lease] = row.split("|", 2);
  try {
    const record = unpackRecord(bodyOf(row, 5), tenant, id);
    return { record, version: versionIn(version), leaseUntil: leaseIn(lease) };
  } catch {
    throw new InvalidInputError(`redis.record[${id}]`, "was not written by a holdfire like this.");
  }
}

/** `nonce|lane`, or nothing to remove the lane. */
export const laneTailOf = (lane: LaneRecord | undefined, nonce: string): string =>
  lane ? `${nonce}|${JSON.stringify(lane)}` : "";

/** `version|nonce|lane`. An empty row is a lane that is gone. */
export function laneIn(row: string): StoredLane {
  if (row === "") return NO_LANE;
  const [version] = row.split("|", 1);
  try {
    return { lane: JSON.parse(bodyOf(row, 2)) as LaneRecord, version: versionIn(version) };
  } catch {
    throw new InvalidInputError("redis.lane", "was not written by a holdfire like this.");
  }
}

export function versionIn(text: string | undefined): number {
  const version = Number(text);
  if (!text || !Number.isSafeInteger(version)) throw new RangeError("not a version");
  return version;
}

/** The server's time, rounded down. */
export const millisecondsOf = (seconds?: string, microseconds?: string): number =>
  Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);

/** `seconds.microseconds+milliseconds`: when it was given, and for how long. Empty: there is none. */
export function leaseIn(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const [seconds, microseconds, ms] = text.split(/[.+]/);
  return millisecondsOf(seconds, microseconds) + Number(ms);
}

function bodyOf(row: string, fields: number): string {
  let at = 0;
  for (let field = 0; field < fields; field += 1) at = row.indexOf("|", at) + 1 || row.length;
  return row.slice(at);
}
