/** Chance from a seed: the same numbers in every run. */

export interface Chance {
  /** In [0, 1). */
  next(): number;
  /** A whole number from `low` to `high`. */
  between(low: number, high: number): number;
}

/** mulberry32: small, fast, and good enough to draw delays. */
export function createChance(seed: number): Chance {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { next, between: (low, high) => low + Math.floor(next() * (high - low + 1)) };
}
