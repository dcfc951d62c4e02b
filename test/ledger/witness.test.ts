import { expect, test } from "vitest";
import { suspicion } from "../../src/ledger/witness/witness.ts";

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
