/**
 * Which operations this process has met lately. A claim of one of them is most likely a repetition,
 * and is looked up before it is queued.
 *
 * Two generations: forgetting the oldest entry one by one costs more than the look-up it saves.
 *
 * @module
 */

export interface Recent {
  add(hash: number): void;
  has(hash: number): boolean;
}

const GENERATION = 10_000;

export function createRecent(): Recent {
  let young = new Set<number>();
  let old = new Set<number>();
  return {
    add(hash) {
      if (young.size >= GENERATION) {
        old = young;
        young = new Set();
      }
      young.add(hash);
    },
    has: (hash) => young.has(hash) || old.has(hash),
  };
}
