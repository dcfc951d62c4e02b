/**
 * What the ledger looks like in Redis: the names of its keys, and records and lanes as texts.
 *
 * A ledger is divided into buckets. Each has a name, a counter and an index, and all its keys share a
 * hash tag, so that one script may touch them all in a cluster too. On one server there is one
 * bucket. In a cluster there are 64: enough to spread over the servers, few enough to list from.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { packRecord, unpackRecord } from "../../ledger/codec/record-text.ts";
import { isOpen, type OperationRecord, type Stored } from "../../ledger/record.ts";
import type { LaneRecord, StoredLane } from "../../ledger/store.ts";

const CLUSTER_BUCKETS = 64;
const PREFIX = /^[\w:-]{1,64}$/;

/** The letters are in the database: new ones may be added, none may be changed. */
const KINDS = {
  /** The bucket's name. */
  name: "b",
  /** The last version given out, under the bucket's name. */
  counter: "n",
  operation: "o",
  /** A tenant's operations in the order of creation. */
  index: "i",
  /** Those that are open. */
  open: "u",
  /** Those of one scope; `scopeHash` of it is the end of the key. */
  scope: "s",
  lane: "l",
  /** A tenant's effects, and the operation that owns each. */
  effects: "e",
  /** The effects of one operation, to release them when it is removed. */
  owned: "x",
} as const;

export type Kind = keyof typeof KINDS;

export interface Layout {
  readonly buckets: number;
  bucketOf(tenant: string, name: string): number;
  key(bucket: number, kind: Kind, ...names: string[]): string;
}

export function layoutFor(kind: "single" | "cluster", prefix: string): Layout {
  if (typeof prefix !== "string" || !PREFIX.test(prefix)) {
    throw new InvalidInputError(
      "redis.prefix",
      "must be 1 to 64 of the characters A-Z, a-z, 0-9, colon, underscore and hyphen.",
    );
  }
  const buckets = kind === "cluster" ? CLUSTER_BUCKETS : 1;
  return {
    buckets,
    bucketOf: (tenant, name) => (buckets === 1 ? 0 : hash(quote(tenant) + quote(name)) % buckets),
    key: (bucket, kind, ...names) => {
      let key = `${prefix}:{${bucket}}:${KINDS[kind]}:`;
      for (const name of names) key += quote(name);
      return key;
    },
  };
}

/**
 * Names are quoted so that each ends where it ends: `a:b` and `c` are not `a` and `b:c`. It also
 * keeps lone surrogates apart, which are equal as UTF-8.
 */
export const quote = (name: string): string => JSON.stringify(name);

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

/** Two scopes may have the same one: a list compares the scope itself. */
export const scopeHash = (scope: string): string => hash(scope).toString(16);

/**
 * A record is stored as `version|leaseUntil|order|open|nonce|scope|packed`; its script adds the first three
 * to this text. The order is the version it was created with. The nonce names the write: a client
 * that sends a write again after a reconnect learns that it was done, not that another came first. It is also the stamp of
 * the record. The scope is there as its hash, for the script that removes the record.
 */
export const recordText = (record: OperationRecord, nonce: string): string =>
  `${isOpen(record.state) ? 1 : 0}|${nonce}|${scopeHash(record.scope)}|${packRecord(record)}`;

const RECORD = /^(\d+)\|(\d*)\|\d+\|[01]\|([^|]*)\|[0-9a-f]*\|/;
const LANE = /^(\d+)\|/;

/** An empty row is no record. */
export function recordIn(row: string, tenant: string, id: string): Stored | undefined {
  if (row === "") return undefined;
  const [head, version, leaseUntil, stamp] = RECORD.exec(row) ?? [""];
  return {
    record: unpackRecord(row.slice(head.length), tenant, id),
    version: Number(version),
    leaseUntil: leaseUntil ? Number(leaseUntil) : undefined,
    stamp,
  };
}

/** A lane is stored as `version|lane`. An empty row is a lane that is gone. */
export function laneIn(row: string): StoredLane {
  if (row === "") return { lane: { queue: [] }, version: 0 };
  try {
    const [head, version] = LANE.exec(row) ?? [""];
    return { lane: JSON.parse(row.slice(head.length)) as LaneRecord, version: Number(version) };
  } catch {
    throw incompatible("redis.lane");
  }
}

const incompatible = (path: string): InvalidInputError =>
  new InvalidInputError(path, "was not written by a compatible version of holdfire.");
