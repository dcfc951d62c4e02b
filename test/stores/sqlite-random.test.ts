import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { packRecord } from "../../src/ledger/codec/record-text.ts";
import { connect } from "../../src/stores/sqlite/connect.ts";
import { databaseOn } from "../../src/stores/sqlite/database.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const newFolder = temporaryFolder();

const storeAt = (path: string) => sqliteStore({ path, durability: "process" });

const claim = (id: string) => create(recordOf({ id }));

const removal = (id: string, expected: number) => ({
  ...claim(id),
  expect: expected,
  record: undefined,
});

/** Numbers in no order, the same in every run. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("two connections agree on what is there, through removals, failures and restarts", async () => {
  const path = join(newFolder(), "ledger.db");
  let stores = [storeAt(path), storeAt(path)];
  await Promise.all(stores.map((store) => store.open()));
  const trigger = new DatabaseSync(path);
  trigger.exec(`CREATE TRIGGER no BEFORE INSERT ON operation WHEN NEW.id LIKE 'bad%'
    BEGIN SELECT RAISE(ABORT, 'no'); END`);
  trigger.close();
  const pick = chance(20_261_116);
  /** The version of every operation that is there. */
  const model = new Map<string, number>();
  let refused = 0;
  for (let turn = 0; turn < 600; turn++) {
    const store = stores[pick(2)];
    if (!store) throw new Error("There are two.");
    const ids = new Set(Array.from({ length: 1 + pick(60) }, () => `op-${pick(9_000)}`));
    const hasBad = pick(10) === 0;
    const isRemoval = pick(8) === 0;
    const changes = [...ids].map((id) => (isRemoval ? removal(id, model.get(id) ?? 0) : claim(id)));
    if (hasBad) changes.splice(pick(changes.length), 0, claim(`bad-${turn}`));
    const ends = await Promise.allSettled(changes.map((change) => store.swap(change)));
    for (const [index, end] of ends.entries()) {
      const { id = "" } = changes[index] ?? {};
      if (id.startsWith("bad")) {
        expect(end.status).toBe("rejected");
        continue;
      }
      const swapped = end.status === "fulfilled" ? end.value : undefined;
      const isFree = isRemoval || !model.has(id);
      if (swapped?.ok !== isFree) throw new Error(`turn ${turn}: ${id} should be ${isFree}`);
      if (!isFree) refused += 1;
      else if (isRemoval) model.delete(id);
      else if (swapped.ok) model.set(id, swapped.version);
    }
    const asked = `op-${pick(9_000)}`;
    for (const each of stores) {
      const { stored } = await each.read("acme", asked);
      expect([asked, stored?.version]).toEqual([asked, model.get(asked)]);
    }
    if (pick(100) === 0) {
      for (const each of stores) await each.close();
      stores = [storeAt(path), storeAt(path)];
    }
  }
  for (const each of stores) await each.close();
  expect(refused).toBeGreaterThan(1_000);
  expect(model.size).toBeGreaterThan(3_000);
});

test("a commit that fails leaves nothing behind that hides what others append", async () => {
  const path = join(newFolder(), "ledger.db");
  const connection = connect(path, "process", undefined);
  // Checked when the transaction is committed, and not before.
  connection.db.exec(`PRAGMA foreign_keys = ON;
    CREATE TABLE parent (name TEXT PRIMARY KEY);
    CREATE TABLE child (name TEXT REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER orphan AFTER INSERT ON operation WHEN NEW.id = 'bad'
      BEGIN INSERT INTO child VALUES (NEW.id); END`);
  const database = databaseOn(connection);
  const text = packRecord(recordOf());
  const claimAll = (...ids: string[]) =>
    database.commit(
      ids.map((id) => () => database.swap(claim(id), text).ok),
      0,
    );
  claimAll("first");
  expect(() => claimAll("a", "bad", "b")).toThrow(/FOREIGN KEY/);
  // Another process gets the sequences that were not used.
  const other = storeAt(path);
  for (const id of ["x", "y", "z"]) await mustSwap(other, claim(id));
  await other.close();
  expect(claimAll("x", "y", "z")).toEqual([false, false, false]);
  expect(claimAll("a", "b")).toEqual([true, true]);
  expect(database.identify().sequence).toBe(6);
  database.close();
});

test("after an older ledger was put back, a living process finds what others have claimed since", async () => {
  for (const claims of [5, 6]) {
    const folder = newFolder();
    const path = join(folder, "ledger.db");
    const living = storeAt(path);
    for (let n = 0; n < 5; n++) await mustSwap(living, claim(`kept-${n}`));
    const source = new DatabaseSync(path);
    await backup(source, join(folder, "copy.db"));
    source.close();
    for (let n = 0; n < 5; n++) await mustSwap(living, claim(`lost-${n}`));
    const copy = new DatabaseSync(join(folder, "copy.db"));
    await backup(copy, path);
    copy.close();
    // As far as the living one had come, or further: by its sequence nothing was lost.
    const other = storeAt(path);
    for (let n = 0; n < claims; n++) await mustSwap(other, claim(`new-${n}`));
    for (let n = 0; n < claims; n++) {
      expect([n, (await living.swap(claim(`new-${n}`))).ok]).toEqual([n, false]);
    }
    await living.close();
    await other.close();
  }
});

test("a removal that is rolled back in its batch leaves the operation where it was", async () => {
  const path = join(newFolder(), "ledger.db");
  const store = storeAt(path);
  const { version } = await mustSwap(store, claim("a"));
  const trigger = new DatabaseSync(path);
  trigger.exec(`CREATE TRIGGER no AFTER DELETE ON operation BEGIN SELECT RAISE(ABORT, 'no'); END`);
  trigger.close();
  const [removed, added] = await Promise.allSettled([
    store.swap(removal("a", version)),
    store.swap({ ...claim("a"), expect: version, lease: 1_000 }),
  ]);
  expect(removed.status).toBe("rejected");
  expect(added).toMatchObject({ status: "fulfilled", value: { ok: true } });
  expect((await store.list({ tenant: "acme" })).items).toHaveLength(1);
  await store.close();
});
