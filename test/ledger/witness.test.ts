import { expect, test } from "vitest";
import { memoryWitness, suspicion } from "../../src/ledger/witness/witness.ts";

const found = (id: string, sequence: number) => ({ id, sequence, now: 0 });

test("a store never seen before is believed", () => {
  expect(suspicion(undefined, found("a", 0))).toBeUndefined();
});

test("the same ledger, as far or further, is believed", () => {
  expect(suspicion({ id: "a", sequence: 5, since: 0 }, found("a", 5))).toBeUndefined();
  expect(suspicion({ id: "a", sequence: 5, since: 0 }, found("a", 6))).toBeUndefined();
});

test("another ledger in its place is suspect, however far it has come", () => {
  expect(suspicion({ id: "a", sequence: 5, since: 0 }, found("b", 9))).toMatch(
    /not the one seen before/,
  );
});

test("an older copy of the same ledger is suspect", () => {
  expect(suspicion({ id: "a", sequence: 5, since: 0 }, found("a", 4))).toMatch(
    /older than the one seen before/,
  );
});

test("what was found against a ledger before is still so", () => {
  const seen = { id: "a", sequence: 5, since: 0, suspect: "found by another" };
  expect(suspicion(seen, found("a", 9))).toBe("found by another");
});

test("a witness in memory keeps the last mark, and a doubt until a person trusts the ledger", async () => {
  const witness = memoryWitness();
  const mark = { id: "a", sequence: 5, since: 1 };
  expect([await witness.read("a"), await witness.doubt("a")]).toEqual([undefined, undefined]);
  witness.note(mark);
  expect([await witness.read("a"), await witness.doubt("a")]).toEqual([mark, undefined]);
  witness.note({ ...mark, suspect: "it is older" });
  witness.note({ ...mark, sequence: 6 });
  expect(await witness.doubt("a")).toEqual({ ...mark, sequence: 6, suspect: "it is older" });
  await witness.trust(mark, "ana", 9);
  expect([await witness.read("a"), await witness.doubt("a")]).toEqual([mark, undefined]);
});
