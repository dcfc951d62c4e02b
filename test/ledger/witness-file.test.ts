import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fileWitness } from "../../src/ledger/witness/witness-file.ts";

let folder: string;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "holdfire-witness-")), "witness");
});

afterEach(() => {
  rmSync(join(folder, ".."), { recursive: true, force: true });
});

test("a store never seen has no mark, and reading makes no file", async () => {
  const witness = fileWitness({ folder });
  expect(await witness.read("a")).toBeUndefined();
  expect(() => statSync(folder)).toThrow();
});

test("the furthest mark of all processes counts", async () => {
  const ahead = fileWitness({ folder });
  const behind = fileWitness({ folder });
  ahead.note({ id: "a", sequence: 100, since: 0 });
  behind.note({ id: "a", sequence: 90, since: 0 });
  expect(await fileWitness({ folder }).read("a")).toEqual({ id: "a", sequence: 100, since: 0 });
  ahead.close();
  behind.close();
});

test("a mark never falls", async () => {
  const witness = fileWitness({ folder });
  witness.note({ id: "a", sequence: 123_456, since: 0 });
  witness.note({ id: "a", sequence: 5, since: 0 });
  expect(await fileWitness({ folder }).read("a")).toMatchObject({ sequence: 123_456 });
  witness.note({ id: "a", sequence: 200_000, since: 0 });
  expect(await fileWitness({ folder }).read("a")).toEqual({ id: "a", sequence: 200_000, since: 0 });
});

test("two stores in one folder do not meet", async () => {
  const one = fileWitness({ folder, name: "a/b" });
  const other = fileWitness({ folder, name: "a" });
  one.note({ id: "x", sequence: 7, since: 0 });
  expect(await other.read("y")).toBeUndefined();
  one.close();
});

test("another ledger in the same place is answered with the mark of the one before", async () => {
  fileWitness({ folder }).note({ id: "old", sequence: 7, since: 3 });
  const before = { id: "old", sequence: 7, since: 3 };
  expect(await fileWitness({ folder }).read("new")).toEqual(before);
});

test("a ledger whose marks were deleted was still there", async () => {
  fileWitness({ folder }).note({ id: "old", sequence: 7, since: 3 });
  rmSync(join(folder, "old.ledger"), { recursive: true });
  expect(await fileWitness({ folder }).read("new")).toEqual({ id: "old", sequence: 0, since: 0 });
});

test("a folder that is deleted under a process is made again", async () => {
  const witness = fileWitness({ folder });
  witness.note({ id: "a", sequence: 1, since: 0 });
  rmSync(folder, { recursive: true });
  witness.note({ id: "a", sequence: 2, since: 0 });
  expect(await fileWitness({ folder }).read("a")).toEqual({ id: "a", sequence: 2, since: 0 });
});

test("trust leaves only the mark that was vouched for", async () => {
  const before = fileWitness({ folder });
  before.note({ id: "a", sequence: 900, since: 0 });
  before.close();
  const after = fileWitness({ folder });
  await after.trust({ id: "a", sequence: 1, since: 0 }, "ana", 0);
  expect(await fileWitness({ folder }).read("a")).toEqual({ id: "a", sequence: 1, since: 0 });
  expect(readdirSync(join(folder, "a.ledger")).sort()).toEqual(["1-0.mark", "trusted"]);
  after.close();
});

test("trust gives the place to another ledger", async () => {
  const before = fileWitness({ folder });
  before.note({ id: "old", sequence: 900, since: 0 });
  const after = fileWitness({ folder });
  expect(await after.read("new")).toMatchObject({ id: "old" });
  after.note({ id: "new", sequence: 1, since: 0, suspect: "it is another" });
  await after.trust({ id: "new", sequence: 1, since: 0 }, "ana", 0);
  expect(await fileWitness({ folder }).read("new")).toEqual({ id: "new", sequence: 1, since: 0 });
  expect(await fileWitness({ folder }).read("old")).toMatchObject({ id: "new" });
});

test("files are for their owner alone", async () => {
  const witness = fileWitness({ folder });
  witness.note({ id: "a", sequence: 1, since: 0 });
  witness.note({ id: "a", sequence: 1, since: 0, suspect: "it is older" });
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(entries.length).toBe(4);
  for (const entry of entries) {
    const { mode } = statSync(join(entry.parentPath, entry.name));
    expect(mode & 0o777).toBe(entry.isFile() ? 0o600 : 0o700);
  }
});

test("the file of a process that has ended is removed by the next, after its own is written", async () => {
  fileWitness({ folder }).note({ id: "a", sequence: 50, since: 3 });
  const next = fileWitness({ folder });
  expect(await next.read("a")).toEqual({ id: "a", sequence: 50, since: 3 });
  expect(readdirSync(join(folder, "a.ledger"))).toEqual(["50-3.mark"]);
  next.note({ id: "a", sequence: 51, since: 3 });
  expect(readdirSync(join(folder, "a.ledger"))).toEqual(["51-3.mark"]);
});

test("a process whose file was removed goes on", async () => {
  const one = fileWitness({ folder });
  one.note({ id: "a", sequence: 1, since: 0 });
  const other = fileWitness({ folder });
  await other.read("a");
  other.note({ id: "a", sequence: 2, since: 0 });
  one.note({ id: "a", sequence: 3, since: 0 });
  expect(await other.read("a")).toMatchObject({ sequence: 3 });
});

test("what cannot be read is passed over", async () => {
  const witness = fileWitness({ folder });
  witness.note({ id: "a", sequence: 1, since: 0 });
  for (const name of ["ledger.place", "a.ledger/doubt", "a.ledger/x.mark", "a.ledger/9-.mark"]) {
    writeFileSync(join(folder, name), "{ torn");
  }
  expect(await fileWitness({ folder }).read("a")).toEqual({ id: "a", sequence: 1, since: 0 });
  writeFileSync(join(folder, "ledger.place"), "");
  expect(await fileWitness({ folder }).read("b")).toBeUndefined();
});

test("a ledger was first seen by whoever saw it first", async () => {
  const one = fileWitness({ folder });
  const other = fileWitness({ folder });
  one.note({ id: "a", sequence: 1, since: 500 });
  other.note({ id: "a", sequence: 9, since: 900 });
  expect(await fileWitness({ folder }).read("a")).toEqual({ id: "a", sequence: 9, since: 500 });
  one.close();
  other.close();
});

test("what one process doubts, another hears, until a person trusts the ledger", async () => {
  const one = fileWitness({ folder });
  const other = fileWitness({ folder });
  const mark = { id: "a", sequence: 5, since: 1 };
  one.note(mark);
  expect(await other.doubt("a")).toBeUndefined();
  one.note({ ...mark, suspect: "it is older" });
  expect(await other.doubt("a")).toEqual({ ...mark, suspect: "it is older" });
  await other.trust({ id: "a", sequence: 6, since: 9 }, "ana", 9);
  expect(await one.doubt("a")).toBeUndefined();
  one.close();
  other.close();
});
