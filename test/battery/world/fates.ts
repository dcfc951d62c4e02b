/** What can befall a request, a read or a call of the store. Drawn by the sequence, counted in the end. */

/** What befalls one request to the service. */
export const FATES = [
  "ok",
  "lost_reply", // committed; the connection breaks
  "lost-request", // never arrives; the connection breaks
  "slow", // committed at once, answered after the attempt was given up
  "slow-late", // committed only after the attempt was given up, then answered
  "late_commit", // the connection breaks first, the commit comes after
  "error-after", // committed, answered 500
  "error-before", // not committed, answered 500
  "error-stored", // not committed, and a keyed service will answer 500 for ever
  "rejected",
  "refused",
  "not-sent",
  "busy", // 503 with Retry-After; nothing was done
  "silent-after", // committed, never answered
  "silent-before", // not committed, never answered
  "sync-throw", // `run` throws before it returns
  "null-after", // committed, rejects with null
  "frozen-before", // not committed, rejects with a frozen object
  "hostile-after", // committed, rejects with an object whose getters throw
  "circular", // committed; the result refers to itself
  "bigint", // committed; the result holds a BigInt
  "twice", // the network delivers the request twice; only where the service can tell
  "lie", // a liar says yes and does nothing; others are honest
  "lie-slow", // the same, after the attempt was given up
] as const;

export type Fate = (typeof FATES)[number];

/** What befalls one look at the state. */
export const READ_FATES = [
  "ok",
  "slow",
  "fail",
  "hang",
  "nonsense",
  "cannot_tell",
  "unanswered", // its request is answered 503, and it says absent
] as const;

export type ReadFate = (typeof READ_FATES)[number];

/** What befalls one call of the store. */
export const STORE_FATES = [
  "ok",
  "slow", // close to the time that the store is given, or past it
  "refuse", // an error, nothing applied
  "lose-reply", // applied, an error comes back
  "hang-before", // never applied, never answered
  "hang-after", // applied, never answered
] as const;

export type StoreFate = (typeof STORE_FATES)[number];

/** Counts what was met, so that a run which met too little is void. */
export interface Hits {
  hit(what: string): void;
  count(what: string): number;
  all(): ReadonlyMap<string, number>;
}

export function createHits(): Hits {
  const counts = new Map<string, number>();
  return {
    hit: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    count: (what) => counts.get(what) ?? 0,
    all: () => counts,
  };
}
