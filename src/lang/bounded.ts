/**
 * Maps and sets that hold no more than so many entries: the one that was put longest ago goes first.
 *
 * Two halves, as `engine/called-by.ts` has them, are faster from ten thousand entries on: finding the oldest of a map takes
 * longer the more it has lost.
 *
 * @module
 */

/** A key that is put again counts as new. */
export function putBounded<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key);
  if (map.size >= most) dropOldest(map);
  map.set(key, value);
}

/** A member that is added again counts as new. */
export function addBounded<T>(set: Set<T>, member: T, most: number): void {
  set.delete(member);
  if (set.size >= most) dropOldest(set);
  set.add(member);
}

function dropOldest<T>(of: { keys(): Iterable<T>; delete(key: T): boolean }): void {
  for (const oldest of of.keys()) {
    of.delete(oldest);
    return;
  }
}
