/**
 * The word that was probably meant.
 *
 * @module
 */

const LONGEST = 32;

/** The nearest of the words, if it is near enough to be a slip. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  if (typed.length > LONGEST) return undefined;
  const ranked = words
    .map((word) => ({ word, distance: distanceOf(typed.toLowerCase(), word) }))
    .filter(
      ({ word, distance }) => distance <= (word.length < 4 ? 1 : Math.max(2, word.length / 3)),
    )
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.word ?? words.find((word) => typed.length > 1 && word.startsWith(typed));
}

/** Levenshtein: letters to add, drop or change. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
