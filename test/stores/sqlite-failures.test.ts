import { renameSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { connect } from "../../src/stores/sqlite/connect.ts";
import { type Engine, engineOn } from "../../src/stores/sqlite/engine.ts";
import { hashOf } from "../../src/stores/sqlite/hash.ts";
import type { Committed, SwapJob } from "../../src/stores/sqlite/job.ts";
import { rowOf } from "../../src/stores/sqlite/row.ts";
import { sqliteStore } from "../../src/stores/sqlite.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const newFolder = temporaryFolder();
const newPath = (): string => join(newFolder(), "ledger.db");

const jobFor = (id: string, tenant = "acme"): SwapJob => ({
  kind: "swap",
  tenant,
  id,
  hash: hashOf(tenant, id),
  expect: 0,
  row: rowOf(recordOf({ id, tenant })),
  lease: "none",
  lane: undefined,
});

/** An engine, and the connection under it. */
function opened(): { readonly engine: Engine; readonly db: DatabaseSync } {
  const connected = connect(newPath(), "process", undefined);
  if (connected.tag !== "connected") throw new Error(`It is ${connected.tag}.`);
  return { engine: engineOn(connected.connection, false), db: connected.connection.db };
}

/** Which jobs were done, and the codes of the others. */
const ends = (committed: Committed): unknown =>
  committed.tag === "done"
    ? committed.done.map((done) => (done.ok ? "done" : done.failure.errcode))
    : committed.tag;

const idsIn = (engine: Engine, tenant = "acme"): string[] =>
  engine.scan({ tenant }, 0, 1_000).rows.map(({ id }) => id);

describe("a job that fails", () => {
  test("does not fail its neighbours, nor leave half of itself", () => {
    const { engine, db } = opened();
    db.exec(`CREATE TRIGGER no BEFORE INSERT ON operation WHEN NEW.id = 'bad'
      BEGIN SELECT RAISE(ABORT, 'no'); END`);
    const lane = { name: "payment/p1", expect: 0, text: "{}" };
    const bad = { ...jobFor("bad", "a new tenant"), lane };
    const committed = engine.commit([jobFor("a"), bad, jobFor("b")], 0);
    expect(ends(committed)).toEqual(["done", 1_811, "done"]);
    expect(idsIn(engine)).toEqual(["a", "b"]);
    expect(engine.readLane("a new tenant", "payment/p1")).toBeUndefined();
    db.exec("DROP TRIGGER no");
    // Its tenant was given out in a transaction that is gone; it is given out again.
    expect(ends(engine.commit([bad, jobFor("c")], 0))).toEqual(["done", "done"]);
    expect(idsIn(engine, "a new tenant")).toEqual(["bad"]);
    engine.close();
  });

  test("by a full disk fails, and the database goes on when there is room again", () => {
    const { engine, db } = opened();
    expect(ends(engine.commit([jobFor("a")], 0))).toEqual(["done"]);
    const pages = Number(db.prepare("PRAGMA page_count").get()?.page_count);
    db.exec(`PRAGMA max_page_count = ${pages}`);
    const many = Array.from({ length: 100 }, (_, index) => jobFor(`more-${index}`));
    const committed = engine.commit(many, 0);
    expect(ends(committed)).toContain(13);
    const done = committed.tag === "done" ? committed.done : [];
    const written = many.filter((_, index) => done[index]?.ok).map(({ id }) => id);
    expect(idsIn(engine)).toEqual(["a", ...written]);
    db.exec("PRAGMA max_page_count = 1000000");
    expect(ends(engine.commit([jobFor("z")], 0))).toEqual(["done"]);
    expect(idsIn(engine)).toEqual(["a", ...written, "z"]);
    engine.close();
  });

  test("because the database may only be read fails, each one", () => {
    const { engine, db } = opened();
    db.exec("PRAGMA query_only = ON");
    expect(ends(engine.commit([jobFor("a"), jobFor("b")], 0))).toEqual([8, 8]);
    db.exec("PRAGMA query_only = OFF");
    expect(ends(engine.commit([jobFor("a")], 0))).toEqual(["done"]);
    engine.close();
  });

  test("costs no version: the next write goes on where the last one was", () => {
    const { engine } = opened();
    engine.commit([jobFor("a")], 0);
    const before = engine.sequence();
    engine.commit([jobFor("a"), { ...jobFor("b"), expect: 7 }], 0);
    expect(engine.sequence()).toBe(before);
    engine.close();
  });

  test("because another connection has the lock is not done, and may be done again", () => {
    const path = newPath();
    const connected = connect(path, "process", undefined);
    if (connected.tag !== "connected") throw new Error(`It is ${connected.tag}.`);
    const engine = engineOn(connected.connection, false);
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const committed = engine.commit([jobFor("a")], 0);
    expect(committed).toMatchObject({ tag: "busy", failure: { errcode: 5 } });
    other.close();
    expect(ends(engine.commit([jobFor("a")], 0))).toEqual(["done"]);
    engine.close();
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
      reason: "unpack",
    });
    expect((await mustRead(store, "acme", "b")).record.id).toBe("b");
    await store.close();
  });
});
