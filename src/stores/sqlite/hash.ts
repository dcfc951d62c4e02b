/**
 * Small numbers for long names: what an index holds in place of a tenant and an id.
 *
 * Operation ids are digests, so they arrive in random order and each lands on another page of its
 * index. Entries of a dozen bytes keep that index small; the whole name is compared in the row.
 *
 * @module
 */

/** 47 bits: the largest number that SQLite keeps in six bytes with its sign. */
const HIGH_BITS = 0x7fff;
const TWO_32 = 2 ** 32;

/**
 * A number for these names. It is on disk: it must never come out differently. Two names may share
 * one, which costs a comparison and nothing else.
 */
export function hashOf(...names: readonly string[]): number {
  let low = 0x9e3779b9;
  let high = 0x85ebca6b;
  for (const name of names) {
    // The length first, so that no two lists of names are one text.
    low = Math.imul(low ^ name.length, 0x9e3779b1);
    high = Math.imul(high ^ name.length, 0x5f356495);
    for (let index = 0; index < name.length; index++) {
      const unit = name.charCodeAt(index);
      low = Math.imul(low ^ unit, 0x9e3779b1);
      high = Math.imul(high ^ unit, 0x5f356495);
    }
  }
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return (high & HIGH_BITS) * TWO_32 + (low >>> 0);
}
