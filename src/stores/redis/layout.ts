/**
 * Where things stand in Redis. All keys of one operation share a hash tag, so that one script may
 * touch them all, also in a cluster.
 *
 * A ledger is cut into buckets, each with its own name, counter and index. On one server there is
 * one bucket. In a cluster there are 64: enough to spread over the servers, few enough to list from.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";

const CLUSTER_BUCKETS = 64;
const DEFAULT_PREFIX = "hf";
const PREFIX = /^[\w:-]{1,64}$/;

/** The letters are in the database: add to them, never change one. */
const KINDS = {
  /** The bucket's name. */
  name: "b",
  /** The last version handed out, under the bucket's name. */
  counter: "n",
  operation: "o",
  /** A tenant's operations in the order of creation, the open ones below zero. */
  index: "i",
  lane: "l",
  /** A tenant's effects, and who has them. */
  effects: "e",
  /** The effects of one operation, to let them go with it. */
  owned: "x",
} as const;

export interface Layout {
  readonly buckets: number;
  bucketOf(one: string, other: string): number;
  key(bucket: number, kind: keyof typeof KINDS, one?: string, other?: string): string;
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
    bucketOf: (one, other) => (buckets === 1 ? 0 : hash(quote(one) + quote(other)) % buckets),
    key: (bucket, what, one, other) => {
      const names =
        (one === undefined ? "" : quote(one)) + (other === undefined ? "" : quote(other));
      return `${prefix}:{${bucket}}:${KINDS[what]}:${names}`;
    },
  };
}

/**
 * A name as one text that ends where it ends, whatever is in it: `a:b` beside `c` is not `a` beside
 * `b:c`, and lone surrogates stay apart.
 */
export const quote = (name: string): string =>
  PLAIN.test(name) ? `"${name}"` : JSON.stringify(name);

/** Nothing in it needs quoting: quicker seen than quoted. */
const PLAIN = /^[\w:./-]*$/;

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
