/**
 * Two texts, line by line: what stays, goes and comes. The work is bounded; beyond that the texts are
 * shown one after the other, which is longer and no less true.
 *
 * @module
 */

export interface LineChange {
  readonly sign: " " | "-" | "+";
  readonly line: string;
  /** The line that stands in its place on the other side, if there is one. */
  readonly beside?: string | undefined;
}

/** Unchanged lines shown around a change. */
const CONTEXT = 3;
/** Lines of one text times lines of the other, at most, that are matched one by one. */
const MOST_CELLS = 250_000;

/** All lines, in order. */
export function compareLines(
  before: readonly string[],
  after: readonly string[],
): readonly LineChange[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const middle = between(
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  );
  const stays = (line: string): LineChange => ({ sign: " ", line });
  return [
    ...before.slice(0, start).map(stays),
    ...middle,
    ...before.slice(before.length - end).map(stays),
  ];
}

function between(before: readonly string[], after: readonly string[]): readonly LineChange[] {
  const common = before.length * after.length <= MOST_CELLS ? longestCommon(before, after) : [];
  const changes: LineChange[] = [];
  let [i, j] = [0, 0];
  for (const [nextI, nextJ] of [...common, [before.length, after.length] as const]) {
    changes.push(...replaced(before.slice(i, nextI), after.slice(j, nextJ)));
    if (nextI < before.length) changes.push({ sign: " ", line: before[nextI] ?? "" });
    [i, j] = [nextI + 1, nextJ + 1];
  }
  return changes;
}

const replaced = (gone: readonly string[], come: readonly string[]): readonly LineChange[] => [
  ...gone.map((line, at) => ({ sign: "-" as const, line, beside: come[at] })),
  ...come.map((line, at) => ({ sign: "+" as const, line, beside: gone[at] })),
];

/** Where the lines of a longest common subsequence stand on either side. */
function longestCommon(
  before: readonly string[],
  after: readonly string[],
): readonly (readonly [number, number])[] {
  const width = after.length + 1;
  // lengths[i * width + j]: of what is common to before from i on and after from j on.
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const common: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < before.length && j < after.length; ) {
    if (before[i] === after[j]) common.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return common;
}

/** The changed lines with a little of what is around them; each gap says how many lines it skips. */
export function withContext(
  changes: readonly LineChange[],
): readonly (LineChange | { readonly sign: "@"; readonly skipped: number })[] {
  const near = new Uint8Array(changes.length);
  for (const [at, { sign }] of changes.entries()) {
    if (sign !== " ") near.fill(1, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  }
  const shown: (LineChange | { readonly sign: "@"; readonly skipped: number })[] = [];
  let skipped = 0;
  for (const [at, change] of changes.entries()) {
    if (near[at] !== 1) {
      skipped += 1;
      continue;
    }
    if (skipped > 0) shown.push({ sign: "@", skipped });
    skipped = 0;
    shown.push(change);
  }
  return skipped > 0 ? [...shown, { sign: "@", skipped }] : shown;
}
