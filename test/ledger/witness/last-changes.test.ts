import { expect, test } from "vitest";
import { lastChanges } from "../../../src/ledger/witness/last-changes.ts";
import { recordOf } from "../../../src/testing/record-of.ts";

const change = (id: string, tenant = "acme") => ({
  tenant,
  id,
  record: recordOf({ createdAt: 5 }),
});
const removal = (id: string) => ({ tenant: "acme", id, record: undefined });

test("the newest change is the one with the highest version, whichever was answered last", () => {
  const changes = lastChanges();
  expect(changes.newest()).toBeUndefined();
  changes.add(change("a"), 7);
  changes.add(change("b"), 9);
  changes.add(change("c"), 8);
  expect(changes.newest()).toEqual({ tenant: "acme", id: "b", version: 9, createdAt: 5 });
});

test("a record that is removed is no longer looked for, one of another tenant still is", () => {
  const changes = lastChanges();
  changes.add(change("a"), 1);
  changes.add(change("b"), 2);
  changes.add(change("b", "other"), 3);
  changes.add(removal("b"), 4);
  expect(changes.newest()).toMatchObject({ tenant: "other", id: "b", version: 3 });
});

test("the last eight are kept, counted from when each was changed last", () => {
  const changes = lastChanges();
  const ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
  for (const [index, id] of ids.entries()) changes.add(change(id), index + 1);
  changes.add(change("a"), 9);
  changes.add(change("i"), 10);
  // "b" is the oldest now, and was dropped; of the others, "a" is the one that nothing else can stand for.
  for (const id of ["c", "d", "e", "f", "g", "h", "i"]) changes.add(removal(id), 11);
  expect(changes.newest()).toMatchObject({ id: "a", version: 9 });
  changes.add(removal("a"), 12);
  expect(changes.newest()).toBeUndefined();
});

test("eight changes push none of them out", () => {
  const changes = lastChanges();
  changes.add(change("first"), 100);
  for (let version = 1; version <= 7; version += 1) changes.add(change(`n${version}`), version);
  expect(changes.newest()).toMatchObject({ id: "first" });
  changes.add(change("n8"), 8);
  expect(changes.newest()).toMatchObject({ id: "n8" });
});

test("all can be forgotten", () => {
  const changes = lastChanges();
  changes.add(change("a"), 1);
  changes.clear();
  expect(changes.newest()).toBeUndefined();
});
