/**
 * Where things stand in Redis. All keys of one operation share a hash tag, so that one script may
 * touch them all, also in a cluster.
 *
 * A ledger is cut into buckets, each with its own clock hand, index and open list. On one server
 * there is one bucket. In a cluster there are 64: enough to spread over the servers, few enough to
 * list from.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";

const CLUSTER_BUCKETS = 64;
const DEFAULT_PREFIX = "hf";
const PREFIX = /^[\w:-]{1,64}$/;

/** The letters are in the database: add to them, never change one. */
const KINDS = {
  /** Names the bucket, and the last version handed out in it. */
  head: "h",
  operation: "o",
  /** A tenant's operations in the order of creation. */
  all: "a",
  /** Those of them that are open. */
  open: "p",
  lane: "l",
  /** A tenant's effects, and who has them. */
  effects: "e",
  /** The effects of one operation, to let them go with it. */
  owned: "x",
} as const;

export interface Layout {
  readonly buckets: number;
  bucketOf(...names: readonly string[]): number;
  key(bucket: number, kind: keyof typeof KINDS, ...names: readonly string[]): string;
  /** Where changes of an operation are told. */
  channel(tenant: string, id: string): string;
}

export function layoutFor(kind: "single" | "cluster", prefix: string = DEFAULT_PREFIX): Layout {
  if (typeof prefix !== "string" || !PREFIX.test(prefix)) {
    throw new InvalidInputError(
      "redis.prefix",
      "must be 1 to 64 of the characters A-Z, a-z, 0-9, colon, underscore and hyphen.",
    );
  }
  const buckets = kind === "cluster" ? CLUSTER_BUCKETS : 1;
  return {
    buckets,
    bucketOf: (...names) => (buckets === 1 ? 0 : hash(glue(names)) % buckets),
    key: (bucket, what, ...names) => {
      const stem = `${prefix}:{${bucket}}:${KINDS[what]}`;
      return names.length === 0 ? stem : `${stem}:${glue(names)}`;
    },
    channel: (tenant, id) => `${prefix}:c:${glue([tenant, id])}`,
  };
}

/** A name as one text that ends where it ends, whatever is in it: lone surrogates stay apart too. */
export const quote = (name: string): string => JSON.stringify(name);

/** Names side by side. Quoted, so that `a:b` and `c` are not `a` and `b:c`. */
export const glue = (names: readonly string[]): string => names.map(quote).join("");

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
