/**
 * A record as one string in Redis: what the scripts look at, then the packed record.
 *
 * `version|leaseUntil|order|open|nonce|packed`. The order is the version it was created with, and
 * the nonce names the write that made it: a client that sends a write again after a reconnect is
 * told that it was done, not that somebody was faster.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { unpackRecord } from "../../ledger/pack.ts";
import type { Stored } from "../../ledger/record.ts";
import type { LaneRecord, StoredLane } from "../../ledger/store.ts";

const FIELDS = 5;
const NO_LANE: StoredLane = { lane: { queue: [] }, version: 0 };

/** An empty row is no record. */
export function storedIn(row: string, tenant: string, id: string): Stored | undefined {
  if (row === "") return undefined;
  const [version, leaseUntil] = row.split("|", 2);
  try {
    const record = unpackRecord(bodyOf(row, FIELDS), tenant, id);
    return { record, version: versionIn(version), leaseUntil: timeIn(leaseUntil) };
  } catch {
    throw new InvalidInputError(`redis.record[${id}]`, "was not written by a holdfire like this.");
  }
}

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

/** Nothing stands for no time. */
export const timeIn = (text: string | undefined): number | undefined =>
  text ? Number(text) : undefined;

function bodyOf(row: string, fields: number): string {
  let at = 0;
  for (let field = 0; field < fields; field += 1) at = row.indexOf("|", at) + 1 || row.length;
  return row.slice(at);
}
