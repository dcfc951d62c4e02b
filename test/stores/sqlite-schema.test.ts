import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { connect } from "../../src/stores/sqlite/connect.ts";
import { settingOf } from "../../src/stores/sqlite/driver.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import {
  APPLICATION_ID,
  migrate,
  OF_ID,
  STEPS,
  schemaProblem,
  versionAfter,
} from "../../src/stores/sqlite/schema.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const newFolder = temporaryFolder();
const newPath = (): string => join(newFolder(), "ledger.db");

const connected = (path: string, durability: "full" | "process") =>
  connect(path, durability, undefined);

const versionOf = (db: DatabaseSync) => settingOf(db, "user_version");

describe("the settings of a connection", () => {
  test.each([
    ["full", 2],
    ["process", 1],
  ] as const)("are read back as they were asked for: %s", (durability, level) => {
    const { db } = connected(newPath(), durability);
    expect(settingOf(db, "synchronous")).toBe(level);
    expect(settingOf(db, "journal_mode")).toBe("wal");
    expect(settingOf(db, "secure_delete")).toBe(1);
    expect(settingOf(db, "busy_timeout")).toBe(0);
    expect(settingOf(db, "wal_autocheckpoint")).toBe(1_000);
    expect(settingOf(db, "fullfsync")).toBe(durability === "full" ? 1 : 0);
    expect(settingOf(db, "application_id")).toBe(APPLICATION_ID);
    db.close();
  });

  test("hold for one connection, whatever another has chosen", () => {
    const path = newPath();
    const [lax, full] = [connected(path, "process"), connected(path, "full")];
    expect(settingOf(lax.db, "synchronous")).toBe(1);
    expect(settingOf(full.db, "synchronous")).toBe(2);
    lax.db.close();
    full.db.close();
  });
});

describe("a database of an older version", () => {
  const NEXT = [...STEPS, "ALTER TABLE lane ADD COLUMN note TEXT"];
  const open = (path: string) => new DatabaseSync(path);
  const columns = (db: DatabaseSync) =>
    db
      .prepare("SELECT name FROM pragma_table_info('lane')")
      .all()
      .map(({ name }) => name);

  test("takes the steps it lacks and keeps what it holds", async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    await mustSwap(store, create(recordOf()));
    const { id, sequence } = await store.open();
    await store.close();

    const db = open(path);
    migrate(db, NEXT);
    expect(versionOf(db)).toBe(versionAfter(NEXT));
    expect(columns(db)).toContain("note");
    expect(db.prepare("SELECT id, sequence FROM ledger").get()).toEqual({ id, sequence });
    expect(db.prepare("SELECT id FROM operation").all()).toEqual([{ id: "operation-1" }]);
    // What was only added does not disturb an older program.
    db.exec(`PRAGMA user_version = ${versionAfter(STEPS)}`);
    db.close();
    const again = sqliteStore({ path });
    expect((await mustRead(again, "acme", "operation-1")).record).toEqual(recordOf());
    await again.close();
  });

  test("is made from nothing by the same steps", async () => {
    const path = newPath();
    const db = open(path);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    expect(versionOf(db)).toBe(0);
    db.close();
    const store = sqliteStore({ path });
    await mustSwap(store, create(recordOf()));
    await store.close();
  });

  test("takes all steps that it lacks, in their order, and those that it has not again", () => {
    const steps = [...NEXT, "UPDATE ledger SET sequence = sequence + 1"];
    const sequenceOf = (db: DatabaseSync) =>
      db.prepare("SELECT sequence FROM ledger").get()?.sequence;
    for (const taken of [[], STEPS, NEXT, steps]) {
      const db = open(newPath());
      migrate(db, taken);
      migrate(db, steps);
      expect(columns(db)).toContain("note");
      expect(sequenceOf(db)).toBe(1);
      expect(versionOf(db)).toBe(versionAfter(steps));
      db.close();
    }
  });

  test("is left as it was when a step fails", () => {
    const db = open(newPath());
    const ledgers = () => db.prepare("SELECT id FROM ledger").all();
    migrate(db, STEPS);
    const made = ledgers();
    expect(made).toHaveLength(1);
    expect(() => migrate(db, [...NEXT, "CREATE NONSENSE"])).toThrow(/syntax/);
    expect(versionOf(db)).toBe(versionAfter(STEPS));
    expect(columns(db)).not.toContain("note");
    expect(db.isTransaction).toBe(false);
    migrate(db, NEXT);
    expect(columns(db)).toContain("note");
    expect(ledgers()).toEqual(made);
    db.close();
  });

  test("by holdfire 0.1 is refused with what to do, and left as it was", async () => {
    const path = newPath();
    const db = open(path);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 1;
      CREATE TABLE operation (seq INTEGER PRIMARY KEY)`);
    db.close();
    const before = readFileSync(path);
    await expect(sqliteStore({ path }).open()).rejects.toMatchObject({
      path: "sqlite.path",
      message: expect.stringMatching(/incompatible version of holdfire.*move the file away/),
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("of a newer version, or of another program, is named", () => {
    const db = open(newPath());
    expect(schemaProblem(db, STEPS)).toBeUndefined();
    migrate(db, NEXT);
    expect(schemaProblem(db, NEXT)).toBeUndefined();
    expect(schemaProblem(db, STEPS)).toMatch(/newer/);
    db.exec("PRAGMA application_id = 1");
    expect(schemaProblem(db, NEXT)).toMatch(/another program/);
    db.close();
  });
});

describe("the index of ids", () => {
  test("tells operations apart whose ids end alike", async () => {
    const store = sqliteStore({ path: newPath() });
    const end = "𝄞 the same end";
    const ids = ["", "a", "b", `b\0`, "𝄞"].map((start) => start + end);
    const records = ids.flatMap((id) =>
      ["acme", "other"].map((tenant) => recordOf({ tenant, id })),
    );
    for (const record of records) await mustSwap(store, create(record));
    for (const record of records) {
      expect((await mustRead(store, record.tenant, record.id)).record).toEqual(record);
      expect(await store.swap(create(record))).toMatchObject({ ok: false, current: { record } });
    }
    await store.close();
  });

  test("is what an operation is found by", () => {
    const { db } = connected(newPath(), "full");
    const [plan] = db
      .prepare(`EXPLAIN QUERY PLAN SELECT * FROM operation WHERE ${OF_ID}`)
      .all("", "", "");
    expect(plan?.detail).toMatch(/^SEARCH operation USING INDEX operation_id /);
    db.close();
  });
});
