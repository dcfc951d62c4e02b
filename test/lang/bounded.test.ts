import { expect, test } from "vitest";
import { addBounded, putBounded } from "../../src/lang/bounded.ts";

test("a map that is full forgets the key that was put longest ago", () => {
  const map = new Map<string, number>();
  for (const [at, key] of ["a", "b", "a", "c"].entries()) putBounded(map, key, at, 2);
  expect([...map]).toEqual([
    ["a", 2],
    ["c", 3],
  ]);
});

test("a set that is full forgets the member that was added longest ago", () => {
  const set = new Set<string | undefined>();
  for (const member of [undefined, "a", "b"]) addBounded(set, member, 2);
  expect([...set]).toEqual(["a", "b"]);
});
