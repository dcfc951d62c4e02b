import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
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
  expect(await witness.read()).toBeUndefined();
  expect(() => statSync(folder)).toThrow();
});

test("the furthest mark of all processes counts", async () => {
  const ahead = fileWitness({ folder });
  const behind = fileWitness({ folder });
  ahead.note({ id: "a", sequence: 100, since: 0 });
  behind.note({ id: "a", sequence: 90, since: 0 });
  expect(await fileWitness({ folder }).read()).toEqual({ id: "a", sequence: 100, since: 0 });
  ahead.close();
  behind.close();
});

test("a mark never falls, also when it gets shorter", async () => {
  const witness = fileWitness({ folder });
  witness.note({ id: "a-long-incarnation-id", sequence: 123_456, since: 0 });
  witness.note({ id: "a-long-incarnation-id", sequence: 5, since: 0 });
  expect(await fileWitness({ folder }).read()).toMatchObject({ sequence: 123_456 });
  witness.note({ id: "b", sequence: 200_000, since: 0 });
  expect(await fileWitness({ folder }).read()).toEqual({ id: "b", sequence: 200_000, since: 0 });
  witness.close();
});

test("two stores in one folder do not meet", async () => {
  const one = fileWitness({ folder, name: "a/b" });
  const other = fileWitness({ folder, name: "a" });
  one.note({ id: "x", sequence: 7, since: 0 });
  expect(await other.read()).toBeUndefined();
  one.close();
});

test("trust leaves only the mark that was vouched for", async () => {
  const before = fileWitness({ folder });
  before.note({ id: "old", sequence: 900, since: 0 });
  before.close();
  const after = fileWitness({ folder });
  await after.trust({ id: "new", sequence: 1, since: 0 }, "ana", 0);
  expect(await fileWitness({ folder }).read()).toEqual({ id: "new", sequence: 1, since: 0 });
  expect(readdirSync(folder)).toHaveLength(1);
  after.close();
});

test("files are for their owner alone", () => {
  const witness = fileWitness({ folder });
  witness.note({ id: "a", sequence: 1, since: 0 });
  const [name = ""] = readdirSync(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  witness.close();
});

test("the file of a process long gone is folded into a younger one", async () => {
  const old = fileWitness({ folder });
  old.note({ id: "a", sequence: 50, since: 0 });
  old.close();
  const [name = ""] = readdirSync(folder);
  utimesSync(join(folder, name), 0, 0);
  const young = fileWitness({ folder });
  expect(await young.read()).toEqual({ id: "a", sequence: 50, since: 0 });
  expect(readdirSync(folder)).toHaveLength(1);
  young.note({ id: "a", sequence: 51, since: 0 });
  expect(readdirSync(folder)).not.toContain(name);
  expect(await fileWitness({ folder }).read()).toEqual({ id: "a", sequence: 51, since: 0 });
  young.close();
});

test("a mark that cannot be read is passed over", async () => {
  const witness = fileWitness({ folder });
  witness.note({ id: "a", sequence: 1, since: 0 });
  witness.close();
  const [name = ""] = readdirSync(folder);
  rmSync(join(folder, name));
  const { writeFileSync } = await import("node:fs");
  writeFileSync(join(folder, name), "{ torn");
  expect(await fileWitness({ folder }).read()).toBeUndefined();
});

test("a ledger was first seen by whoever saw it first", async () => {
  const one = fileWitness({ folder });
  const other = fileWitness({ folder });
  one.note({ id: "a", sequence: 1, since: 500 });
  other.note({ id: "a", sequence: 9, since: 900 });
  expect(await fileWitness({ folder }).read()).toEqual({ id: "a", sequence: 9, since: 500 });
  one.close();
  other.close();
});

test("what one process doubts, another hears, until somebody trusts the ledger", async () => {
  const one = fileWitness({ folder });
  const other = fileWitness({ folder });
  const mark = { id: "a", sequence: 5, since: 1 };
  one.note(mark);
  expect(await other.doubt()).toBeUndefined();
  one.note({ ...mark, suspect: "it is younger" });
  expect(await other.doubt()).toEqual({ ...mark, suspect: "it is younger" });
  await other.trust({ id: "a", sequence: 6, since: 9 }, "ana", 9);
  expect(await one.doubt()).toBeUndefined();
  one.close();
  other.close();
});
