import { chmodSync, copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { isHoldfireError } from "../../src/errors.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const newFolder = temporaryFolder();
let path = "";
const newPath = (): string => {
  path = join(newFolder(), "ledger.db");
  return path;
};

storeContract("sqlite", {
  open: ({ now }) => sqliteStore({ path: newPath(), now }),
  reopen: ({ now }) => sqliteStore({ path, now }),
});

storeContract("sqlite, on the host's clock and without a sync", {
  open: () => sqliteStore({ path: newPath(), durability: "process" }),
  reopen: () => sqliteStore({ path, durability: "process" }),
  clock: "server",
});

/** Counts the transactions that write: each raises the ledger's sequence once. */
function countTransactions(file: string): () => number {
  const db = new DatabaseSync(file);
  db.exec(`CREATE TABLE counted (n);
    CREATE TRIGGER counting AFTER UPDATE OF sequence ON ledger
      BEGIN INSERT INTO counted VALUES (1); END`);
  db.close();
  return () => {
    const reader = new DatabaseSync(file, { readOnly: true });
    const { count } = reader.prepare("SELECT count(*) AS count FROM counted").get() ?? {};
    reader.close();
    return Number(count);
  };
}

describe("the sqlite store", () => {
  test("says what each durability survives", () => {
    const full = sqliteStore({ path: "x.db" }).promise;
    expect(full).toMatchObject({ survives: "host", mayForget: false, forgettingAccepted: false });
    const process = sqliteStore({ path: "x.db", durability: "process" }).promise;
    expect(process).toMatchObject({
      survives: "process",
      mayForget: false,
      forgettingAccepted: false,
    });
    expect(process.text).toContain("a loss of power may lose the last writes");
  });

  test("opens by itself on first use", async () => {
    const store = sqliteStore({ path: newPath() });
    await mustSwap(store, create(recordOf()));
    expect((await mustRead(store, "acme", "operation-1")).record).toEqual(recordOf());
    await store.close();
  });

  test("is closed by what was asked before it: the writes are there", async () => {
    const file = newPath();
    const store = sqliteStore({ path: file });
    await store.open();
    const swaps = ["a", "b", "c"].map((id) => store.swap(create(recordOf({ id }))));
    await store.close();
    expect((await Promise.all(swaps)).map(({ ok }) => ok)).toEqual([true, true, true]);
    const again = sqliteStore({ path: file });
    expect((await again.list({ tenant: "acme" })).items).toHaveLength(3);
    await again.close();
  });

  test("is another ledger in another file", async () => {
    const [one, other] = [sqliteStore({ path: newPath() }), sqliteStore({ path: newPath() })];
    expect((await one.open()).id).not.toBe((await other.open()).id);
    await one.close();
    await other.close();
  });

  test("an older copy put back is the same ledger at a lower sequence", async () => {
    const file = newPath();
    const store = sqliteStore({ path: file });
    await mustSwap(store, create(recordOf({ id: "a" })));
    const older = await store.open();
    await store.close();
    copyFileSync(file, `${file}.copy`);

    const later = sqliteStore({ path: file });
    await mustSwap(later, create(recordOf({ id: "b" })));
    const newer = await later.open();
    await later.close();
    expect(newer).toMatchObject({ id: older.id });
    expect(newer.sequence).toBeGreaterThan(older.sequence);

    copyFileSync(`${file}.copy`, file);
    const restored = sqliteStore({ path: file });
    expect(await restored.open()).toMatchObject({ id: older.id, sequence: older.sequence });
    await restored.close();
  });

  test("commits all that one turn asks for in one transaction", async () => {
    const file = newPath();
    const store = sqliteStore({ path: file });
    await store.open();
    const transactions = countTransactions(file);
    const ids = Array.from({ length: 50 }, (_, index) => `operation-${index}`);
    await Promise.all(ids.map((id) => store.swap(create(recordOf({ id })))));
    expect(transactions()).toBe(1);
    await store.swap(create(recordOf({ id: "one more" })));
    expect(transactions()).toBe(2);
    // One that changes nothing writes nothing.
    expect((await store.swap({ ...create(recordOf({ id: "none" })), expect: 7 })).ok).toBe(false);
    expect(transactions()).toBe(2);
    await store.close();
  });

  test("answers a repeated claim without a transaction", async () => {
    const file = newPath();
    const store = sqliteStore({ path: file });
    const { version } = await mustSwap(store, create(recordOf()));
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const repeated = await store.swap(create(recordOf({ argsHash: "other" })));
    expect(repeated).toMatchObject({ ok: false, current: { record: recordOf(), version } });
    other.close();
    await store.close();
  });

  test("hears of no change that was refused", async () => {
    const store = sqliteStore({ path: newPath() });
    await mustSwap(store, create(recordOf()));
    let calls = 0;
    store.watch?.("acme", "operation-1", () => {
      calls += 1;
    });
    expect((await store.swap(create(recordOf()))).ok).toBe(false);
    expect((await store.swap({ ...create(recordOf()), expect: 7 })).ok).toBe(false);
    expect(calls).toBe(0);
    await store.close();
  });

  test("takes no write and no watcher once it is being closed", async () => {
    const file = newPath();
    const store = sqliteStore({ path: file });
    await store.open();
    const closed = store.close();
    await expect(store.swap(create(recordOf()))).rejects.toThrow(/closed/);
    expect(() => store.watch?.("acme", "operation-1", () => {})).toThrow(/closed/);
    await closed;
    const again = sqliteStore({ path: file });
    expect((await again.read("acme", "operation-1")).stored).toBeUndefined();
    await again.close();
  });

  test("waits for a process that makes the file, and opens it then", async () => {
    const file = newPath();
    const other = new DatabaseSync(file);
    chmodSync(file, 0o600);
    other.exec("BEGIN EXCLUSIVE");
    const store = sqliteStore({ path: file });
    let isOpen = false;
    const opened = store.open().then(() => {
      isOpen = true;
    });
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(isOpen).toBe(false);
    other.close();
    await opened;
    await mustSwap(store, create(recordOf()));
    await store.close();
  });

  test("takes reads and writes while another process makes the file, and does them then", async () => {
    const file = newPath();
    const other = new DatabaseSync(file);
    chmodSync(file, 0o600);
    other.exec("BEGIN EXCLUSIVE");
    const store = sqliteStore({ path: file });
    const swaps = ["a", "b"].map((id) => store.swap(create(recordOf({ id }))));
    const found = store.read("acme", "none");
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
    other.close();
    expect((await Promise.all(swaps)).map(({ ok }) => ok)).toEqual([true, true]);
    expect((await found).stored).toBeUndefined();
    await store.close();
  });

  test("refused for the record as well as the lane tells of the record alone", async () => {
    const store = sqliteStore({ path: newPath() });
    const lane = { name: "payment/p1", expect: 0, lane: { holder: "operation-1", queue: [] } };
    const { version } = await mustSwap(store, { ...create(recordOf()), lane });
    const refused = await store.swap({ ...create(recordOf()), expect: version + 1, lane });
    expect(refused).toMatchObject({ ok: false, current: { version } });
    expect(refused).not.toHaveProperty("lane");
    const byLane = await store.swap({ ...create(recordOf()), expect: version, lane });
    expect(byLane).toMatchObject({ ok: false, lane: { lane: lane.lane } });
    await store.close();
  });

  test("two stores on one file in one process see each other's writes", async () => {
    const file = newPath();
    const [one, other] = [sqliteStore({ path: file }), sqliteStore({ path: file })];
    const { version } = await mustSwap(one, create(recordOf()));
    const seen = await mustRead(other, "acme", "operation-1");
    expect(seen.version).toBe(version);
    await one.close();
    await mustSwap(other, { ...create(recordOf()), expect: version });
    await other.close();
  });

  test("lists a tenant's few records among many of others, over many turns", async () => {
    const store = sqliteStore({ path: newPath(), durability: "process" });
    const write = (tenant: string, id: string) => store.swap(create(recordOf({ tenant, id })));
    await write("small", "first");
    const many = Array.from({ length: 1_500 }, (_, index) => write("large", `${index}`));
    await Promise.all(many);
    await write("small", "last");
    const scoped = await store.list({ tenant: "small", scope: recordOf().scope });
    expect(scoped.items.map(({ record }) => record.id)).toEqual(["first", "last"]);
    expect(scoped.cursor).toBeUndefined();
    for (const newestFirst of [false, true]) {
      const { items, cursor } = await store.list({ tenant: "small", newestFirst });
      const ids = items.map(({ record }) => record.id);
      expect(newestFirst ? ids.reverse() : ids).toEqual(["first", "last"]);
      expect(cursor).toBeUndefined();
    }
    // Other work goes on between two reads, and a store that is closed meanwhile says so.
    const listed = store.list({ tenant: "small" });
    await Promise.all([store.close(), expect(listed).rejects.toThrow(/closed/)]);
  });

  test("prunes more than one transaction's worth, and leaves nothing of it in its files", async () => {
    const file = newPath();
    const store = sqliteStore({ path: file, now: () => 1_000_000 });
    const payload = { form: "json", text: '"very secret"' } as const;
    const swaps = Array.from({ length: 250 }, (_, index) =>
      store.swap(
        create(recordOf({ id: `${index}`, state: { tag: "committed", via: "reply", payload } })),
      ),
    );
    await Promise.all(swaps);
    expect(readFileSync(`${file}-wal`, "latin1")).toContain("very secret");
    const query = { tenant: "acme", payloadsOlderThanMs: 1 };
    expect(await store.prune({ ...query, limit: 120 })).toEqual({ payloads: 120, tombstones: 0 });
    expect(await store.prune(query)).toEqual({ payloads: 130, tombstones: 0 });
    // While it is open: its log is empty, too.
    for (const suffix of ["", "-wal"]) {
      expect(readFileSync(file + suffix, "latin1")).not.toContain("very secret");
    }
    await store.close();
  });

  test("prunes no more than asked for of payloads and tombstones together, and no record twice", async () => {
    const file = newPath();
    const [one, other] = [0, 1].map(() => sqliteStore({ path: file, now: () => 1_000_000 }));
    if (!one || !other) throw new Error("There are two.");
    const payload = { form: "json", text: '"secret"' } as const;
    const bare = { tag: "committed", via: "reply" } as const;
    await mustSwap(one, create(recordOf({ id: "bare", state: bare })));
    await mustSwap(one, create(recordOf({ id: "full", state: { ...bare, payload } })));
    const due = { tenant: "acme", payloadsOlderThanMs: 1, tombstonesOlderThanMs: 1 };
    expect(await one.prune({ ...due, limit: 1 })).toEqual({ payloads: 0, tombstones: 1 });
    const both = await Promise.all([one.prune(due), other.prune(due)]);
    expect(both.map(({ tombstones }) => tombstones).toSorted()).toEqual([0, 1]);
    await one.close();
    await other.close();
  });

  test("prunes the others where a record cannot be read", async () => {
    const file = newPath();
    const store = sqliteStore({ path: file, now: () => 1_000_000 });
    for (const id of ["a", "b"]) {
      await mustSwap(store, create(recordOf({ id, state: { tag: "denied", by: "ana" } })));
    }
    const db = new DatabaseSync(file);
    db.exec(`UPDATE operation SET text = '{"v":99}' WHERE id = 'a'`);
    db.close();
    const due = { tenant: "acme", tombstonesOlderThanMs: 1 };
    expect(await store.prune(due)).toEqual({ payloads: 0, tombstones: 1 });
    expect((await store.read("acme", "b")).stored).toBeUndefined();
    await expect(store.read("acme", "a")).rejects.toMatchObject({ reason: "damaged_record" });
    await store.close();
  });

  test.each(["", "x", "-1", "1.5", "1e400", "NaN"])("refuses %j as a cursor", async (cursor) => {
    const store = sqliteStore({ path: newPath() });
    const error: unknown = await store
      .list({ tenant: "acme", cursor })
      .catch((thrown: unknown) => thrown);
    expect(isHoldfireError(error) && error.code).toBe("ERR_HOLDFIRE_INVALID_INPUT");
    await store.close();
  });
});
