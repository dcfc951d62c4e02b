import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Store } from "../../src/ledger/store.ts";
import { defaultStore, defaultWitness } from "../../src/stores/default.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const newFolder = temporaryFolder();

/** A project, and a folder in which its programs are started. */
function newProject() {
  const root = newFolder();
  writeFileSync(join(root, "package.json"), "{}");
  writeFileSync(join(root, "job.js"), "");
  return { root, start: { entry: join(root, "job.js"), cwd: newFolder() } };
}

describe("the default store", () => {
  test("is a file in the project of the script, made on first use", async () => {
    const { root, start } = newProject();
    const store = defaultStore({}, start);
    const path = join(root, ".holdfire", "ledger.db");
    expect(store).toMatchObject({ name: "sqlite", address: path, promise: { survives: "host" } });
    expect(existsSync(path)).toBe(false);
    await store.open();
    expect(existsSync(path)).toBe(true);
    expect(readdirSync(start.cwd)).toEqual([]);
    await store.close();
  });

  test("is in the project of the working folder without a script", () => {
    const { root } = newProject();
    expect(defaultStore({}, { cwd: root }).address).toBe(join(root, ".holdfire", "ledger.db"));
  });

  test("is refused where the disk is lost, with the path and what to pass", () => {
    const { root, start } = newProject();
    expect(() => defaultStore({ VERCEL: "1" }, start)).toThrow(
      expect.objectContaining({
        path: "options.store",
        message: expect.stringMatching(/Vercel does not keep its disk.*Pass a redisStore/),
      }),
    );
    expect(() => defaultStore({ VERCEL: "1" }, start)).toThrow(join(root, ".holdfire"));
  });

  test("is where HOLDFIRE_STORE says, also where the disk is lost: there may be a volume", () => {
    const { start } = newProject();
    const path = join(newFolder(), "kept.db");
    expect(defaultStore({ VERCEL: "1", HOLDFIRE_STORE: path }, start).address).toBe(path);
    expect(() => defaultStore({ VERCEL: "1", HOLDFIRE_STORE: "" }, start)).toThrow(/Vercel/);
  });
});

describe("the default witness", () => {
  /** Makes the witness write down its place. */
  const note = (store: Store | undefined, env: Record<string, string>, cwd: string): void =>
    defaultWitness(store, env, { cwd }).note({ id: "ledger-1", sequence: 1, since: 0 });

  test("of no store is beside the default file", () => {
    const { root } = newProject();
    note(undefined, {}, root);
    expect(readdirSync(join(root, ".holdfire", "witness"))).toContain("ledger.db.place");
  });

  test("of a SQLite file is beside that one, whatever the environment says", () => {
    const { root } = newProject();
    const path = join(newFolder(), "own.db");
    note(sqliteStore({ path }), { HOLDFIRE_STORE: join(root, "other.db") }, root);
    expect(readdirSync(join(path, "..", "witness"))).toContain("own.db.place");
    expect(existsSync(join(root, "witness"))).toBe(false);
  });

  test("of another store is in the project, by the name and the address of the store", () => {
    const { root } = newProject();
    note({ ...memoryStore(), name: "redis", address: "host:1/0" }, {}, root);
    note(memoryStore(), {}, root);
    expect(readdirSync(join(root, ".holdfire", "witness"))).toEqual(
      expect.arrayContaining([
        `${encodeURIComponent("redis host:1/0")}.place`,
        `${encodeURIComponent("memory ")}.place`,
      ]),
    );
  });

  test("of a path in the environment that is not whole is in the working folder", () => {
    const cwd = newFolder();
    note(undefined, { HOLDFIRE_STORE: "some/kept.db" }, cwd);
    expect(readdirSync(join(cwd, "some", "witness"))).toContain("kept.db.place");
  });
});
