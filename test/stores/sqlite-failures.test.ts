import { renameSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/lang/clock.ts";
import { packRecord } from "../../src/ledger/codec/record-text.ts";
import type { Store } from "../../src/ledger/store.ts";
import { connect } from "../../src/stores/sqlite/connect.ts";
import { databaseOn } from "../../src/stores/sqlite/database.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { createWriteQueue } from "../../src/stores/sqlite/write-queue.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const newFolder = temporaryFolder();
const newPath = (): string => join(newFolder(), "ledger.db");

/** The writes of a store, and the connection under them. */
function opened(path = newPath()) {
  const connection = connect(path, "process", undefined);
  const database = databaseOn(connection);
  const queue = createWriteQueue({
    commit: (jobs) => database.commit(jobs, 0),
    clock: systemClock,
    random: Math.random,
    soon: setImmediate,
  });
  const claim = (id: string) => {
    const record = recordOf({ id });
    return queue.push(() => database.swap(create(record), packRecord(record)));
  };
  /** Claims all of them in one turn. Returns which were done, and the codes of the others. */
  const claimAll = async (...ids: readonly string[]): Promise<unknown[]> => {
    const ends = await Promise.allSettled(ids.map(claim));
    return ends.map((end) => (end.status === "fulfilled" ? "done" : end.reason.errcode));
  };
  const inOrder = connection.db.prepare("SELECT id FROM operation ORDER BY seq");
  const ids = () => inOrder.all().map(({ id }) => id);
  return { database, db: connection.db, claimAll, ids };
}

const idsIn = async (store: Store, tenant: string): Promise<string[]> =>
  (await store.list({ tenant })).items.map(({ record }) => record.id);

describe("a job that fails", () => {
  test("does not fail its neighbours, nor leave half of itself", async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    await store.open();
    const db = new DatabaseSync(path);
    db.exec(`CREATE TRIGGER no BEFORE INSERT ON operation WHEN NEW.id = 'bad'
      BEGIN SELECT RAISE(ABORT, 'no'); END`);
    const lane = { name: "payment/p1", expect: 0, lane: { queue: [] } };
    const bad = { ...create(recordOf({ id: "bad", tenant: "a new tenant" })), lane };
    const ends = await Promise.allSettled([
      store.swap(create(recordOf({ id: "a" }))),
      store.swap(bad),
      store.swap(create(recordOf({ id: "b" }))),
    ]);
    expect(
      ends.map((end) => (end.status === "fulfilled" ? end.value.ok : end.reason.errcode)),
    ).toEqual([true, 1_811, true]);
    expect(await idsIn(store, "acme")).toEqual(["a", "b"]);
    expect((await store.readLane("a new tenant", "payment/p1")).stored).toBeUndefined();
    db.exec("DROP TRIGGER no");
    db.close();
    await Promise.all([mustSwap(store, bad), mustSwap(store, create(recordOf({ id: "c" })))]);
    expect(await idsIn(store, "a new tenant")).toEqual(["bad"]);
    await store.close();
  });

  test("by a full disk fails, and the database goes on when there is room again", async () => {
    const { database, db, claimAll, ids } = opened();
    expect(await claimAll("a")).toEqual(["done"]);
    const pages = Number(db.prepare("PRAGMA page_count").get()?.page_count);
    db.exec(`PRAGMA max_page_count = ${pages}`);
    const many = Array.from({ length: 100 }, (_, index) => `more-${index}`);
    const ends = await claimAll(...many);
    expect(ends).toContain(13);
    const written = many.filter((_, index) => ends[index] === "done");
    expect(ids()).toEqual(["a", ...written]);
    db.exec("PRAGMA max_page_count = 1000000");
    expect(await claimAll("z")).toEqual(["done"]);
    expect(ids()).toEqual(["a", ...written, "z"]);
    database.close();
  });

  test("because the database may only be read fails, each one", async () => {
    const { database, db, claimAll } = opened();
    db.exec("PRAGMA query_only = ON");
    expect(await claimAll("a", "b")).toEqual([8, 8]);
    db.exec("PRAGMA query_only = OFF");
    expect(await claimAll("a")).toEqual(["done"]);
    database.close();
  });

  test("costs no version: the next write goes on where the last one was", async () => {
    const { database, claimAll } = opened();
    await claimAll("a");
    const before = database.identify().sequence;
    await claimAll("a");
    const stale = { ...create(recordOf({ id: "b" })), expect: 7 };
    const [swapped] = database.commit([() => database.swap(stale, packRecord(recordOf()))], 0);
    expect(swapped).toMatchObject({ ok: false });
    expect(database.identify().sequence).toBe(before);
    database.close();
  });

  test("because it expects the version of another operation changes neither", async () => {
    const { database, claimAll } = opened();
    await claimAll("a", "b");
    const version = database.find("acme", "a")?.version ?? 0;
    for (const other of [{ id: "b" }, { id: "a", tenant: "other" }]) {
      const record = recordOf({ ...other, stateAt: 7 });
      const change = { ...create(record), expect: version };
      const before = database.find(record.tenant, record.id);
      const [swapped] = database.commit([() => database.swap(change, packRecord(record))], 0);
      expect(swapped).toEqual({ ok: false, current: before, now: 0 });
    }
    expect(database.find("acme", "a")).toMatchObject({ version, record: recordOf({ id: "a" }) });
    database.close();
  });

  test("because another connection has the lock is not done, and may be done again", async () => {
    const path = newPath();
    const { database, claimAll, ids } = opened(path);
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    expect(() => database.commit([() => "x"], 0)).toThrow(expect.objectContaining({ errcode: 5 }));
    const claimed = claimAll("a");
    await new Promise((resolve) => setImmediate(resolve));
    expect(ids()).toEqual([]);
    other.close();
    expect(await claimed).toEqual(["done"]);
    database.close();
  });
});

describe("a ledger that is tampered with", () => {
  test("whose file was moved away acknowledges nothing, until it is back", async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    await mustSwap(store, create(recordOf()));
    renameSync(path, `${path}.away`);
    await expect(store.swap(create(recordOf({ id: "b" })))).rejects.toThrow(/moved or removed/);
    renameSync(`${path}.away`, path);
    await mustSwap(store, create(recordOf({ id: "c" })));
    await store.close();
  });

  test("whose record cannot be read says so, and the others can be", async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    await mustSwap(store, create(recordOf({ id: "a" })));
    await mustSwap(store, create(recordOf({ id: "b" })));
    const db = new DatabaseSync(path);
    db.exec(`UPDATE operation SET text = '{"v":99}' WHERE id = 'a'`);
    db.close();
    await expect(store.read("acme", "a")).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_STORE_UNAVAILABLE",
      reason: "damaged_record",
    });
    expect((await mustRead(store, "acme", "b")).record.id).toBe("b");
    await store.close();
  });
});
