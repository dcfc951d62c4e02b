import { execFileSync } from "node:child_process";
import fs, {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join, parse } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { isHoldfireError } from "../../src/errors.ts";
import { defaultPath, diskIsForgotten, entryFolder } from "../../src/stores/default-path.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const newFolder = temporaryFolder();
const isRoot = process.getuid?.() === 0;
const isWindows = process.platform === "win32";
const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** The files that this process has open. */
const openFiles = (): readonly string[] =>
  readdirSync("/proc/self/fd").flatMap((handle) => {
    try {
      return [readlinkSync(`/proc/self/fd/${handle}`)];
    } catch {
      // The one that lists them is closed by now.
      return [];
    }
  });

/** Opens, and returns the refusal. */
async function refusal(path: string): Promise<{ path: string; message: string }> {
  const store = sqliteStore({ path });
  const error: unknown = await store.open().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  await store.close();
  if (!isHoldfireError(error) || error.code !== "ERR_HOLDFIRE_INVALID_INPUT") {
    throw new Error(`It was not refused: ${String(error)}`);
  }
  return error;
}

describe("a path", () => {
  test.each([
    ["nothing", "", /path to a file/],
    ["a NUL character", "a\0b.db", /NUL/],
    ["a database in memory", ":memory:", /memoryStore/],
    ["a file URI", "file:ledger.db", /URI/],
    ["a file URI in capitals", "FILE:ledger.db", /URI/],
    ["a URI with a mode", "ledger.db?mode=memory", /URI/],
    ["another URI", "redis://localhost", /URI/],
    ["a folder", "ledger/", /folder/],
    ["a folder of Windows", "ledger\\", /folder/],
    ["more than a path can be", "x".repeat(5_000), /at most/],
  ])("that is %s is refused at once", (_, path, rule) => {
    expect(() => sqliteStore({ path })).toThrow(rule);
    expect(() => sqliteStore({ path })).toThrow(/^sqlite\.path: /);
  });

  test("that is as long as a path can be is not refused", () => {
    const path = join("/", "x".repeat(4_095));
    expect(sqliteStore({ path }).address).toBe(path);
  });

  test("that is not text is refused at once", () => {
    const path = 7 as unknown as string;
    expect(() => sqliteStore({ path })).toThrow(/path to a file/);
  });

  test("is not the only option that is checked", () => {
    const durability = "some" as unknown as "full";
    expect(() => sqliteStore({ path: "x.db", durability })).toThrow(/^sqlite\.durability/);
  });
});

describe("the default path", () => {
  test("is beside the nearest package.json", () => {
    const root = newFolder();
    writeFileSync(join(root, "package.json"), "{}");
    mkdirSync(join(root, "a", "b"), { recursive: true });
    const expected = join(root, ".holdfire", "ledger.db");
    expect(defaultPath({}, join(root, "a", "b"))).toBe(expected);
    expect(defaultPath({}, root)).toBe(expected);
  });

  test("is what HOLDFIRE_STORE says, if it says anything", () => {
    const root = newFolder();
    writeFileSync(join(root, "package.json"), "{}");
    expect(defaultPath({ HOLDFIRE_STORE: "/var/ledger.db" }, root)).toBe("/var/ledger.db");
    expect(defaultPath({ HOLDFIRE_STORE: "" }, root)).toBe(join(root, ".holdfire", "ledger.db"));
  });
});

test("the default path is in the folder itself where there is no package.json at all", () => {
  const folder = join(parse(process.cwd()).root, "nowhere", "at-all");
  expect(defaultPath({}, folder)).toBe(join(folder, ".holdfire", "ledger.db"));
});

describe("the folder of the entry script", () => {
  test("is the script's own, wherever the program is started", () => {
    const root = newFolder();
    const script = join(root, "job.js");
    writeFileSync(script, "");
    expect(entryFolder(script, newFolder())).toBe(root);
    expect(entryFolder("job.js", root)).toBe(root);
    expect(entryFolder(join(root, "job"), newFolder())).toBe(root);
  });

  test("is where a link leads", () => {
    const root = newFolder();
    const link = join(newFolder(), "job");
    writeFileSync(join(root, "job.js"), "");
    symlinkSync(join(root, "job.js"), link);
    expect(entryFolder(link, newFolder())).toBe(root);
  });

  test("is the working folder without a script, and for the command of a dependency", () => {
    const root = newFolder();
    const command = join(root, "node_modules", "next", "bin", "next");
    mkdirSync(join(command, ".."), { recursive: true });
    writeFileSync(command, "");
    const cwd = newFolder();
    expect(entryFolder(undefined, cwd)).toBe(cwd);
    expect(entryFolder("", cwd)).toBe(cwd);
    expect(entryFolder(command, cwd)).toBe(cwd);
    expect(entryFolder("/not/there/job.js", cwd)).toBe(cwd);
  });
});

describe("a host that forgets its disk", () => {
  test.each([
    ["VERCEL", "Vercel"],
    ["NETLIFY", "Netlify"],
    ["AWS_LAMBDA_FUNCTION_NAME", "AWS Lambda"],
    ["K_SERVICE", "Cloud Run"],
    ["CLOUD_RUN_JOB", "Cloud Run"],
    ["FUNCTION_TARGET", "Cloud Functions"],
    ["CF_PAGES", "Cloudflare Pages"],
    ["DYNO", "Heroku"],
  ])("is known by %s", (variable, host) => {
    expect(diskIsForgotten({ [variable]: "1" })).toBe(host);
  });

  test("is not presumed", () => {
    expect(diskIsForgotten({})).toBeUndefined();
    expect(diskIsForgotten({ VERCEL: "", FLY_APP_NAME: "app", PATH: "/bin" })).toBeUndefined();
  });
});

describe.skipIf(isWindows)("the files", () => {
  test("are made with their folder, for their owner alone", async () => {
    const folder = join(newFolder(), "deep", "er");
    const path = join(folder, "ledger.db");
    const store = sqliteStore({ path });
    await mustSwap(store, create(recordOf()));
    expect(modeOf(folder)).toBe(0o700);
    expect(readdirSync(folder).sort()).toEqual(["ledger.db", "ledger.db-shm", "ledger.db-wal"]);
    for (const name of readdirSync(folder)) expect(modeOf(join(folder, name))).toBe(0o600);
    await store.close();
  });

  test("are made durable by name: each folder that was made, and the one it was made in", async () => {
    const root = newFolder();
    const folder = join(root, "deep", "er");
    const opening = vi.spyOn(fs, "openSync");
    onTestFinished(() => opening.mockRestore());
    const synced = () =>
      opening.mock.calls.splice(0).flatMap(([path, flag]) => (flag === "r" ? [path] : []));
    const open = async (name: string) => {
      const store = sqliteStore({ path: join(folder, name) });
      await store.open();
      await store.close();
    };
    await open("ledger.db");
    expect(synced()).toEqual([folder, join(root, "deep"), root, folder]);
    await open("another.db");
    expect(synced()).toEqual([folder]);
    await open("another.db");
    expect(synced()).toEqual([]);
    if (existsSync("/proc/self/fd")) expect(openFiles()).not.toContain(folder);
  });

  test("are not made through a symbolic link", async () => {
    const folder = newFolder();
    const target = join(folder, "target.db");
    symlinkSync(target, join(folder, "ledger.db"));
    expect(await refusal(join(folder, "ledger.db"))).toMatchObject({
      path: "sqlite.path",
      message: expect.stringMatching(/symbolic link/),
    });
    expect(existsSync(target)).toBe(false);
  });

  test.each(["-wal", "-shm", "-journal"])("are refused when %s is a link", async (suffix) => {
    const folder = newFolder();
    const target = join(folder, "target");
    writeFileSync(target, "theirs");
    symlinkSync(target, join(folder, `ledger.db${suffix}`));
    expect((await refusal(join(folder, "ledger.db"))).message).toMatch(/symbolic link/);
    expect(readFileSync(target, "utf8")).toBe("theirs");
    expect(existsSync(join(folder, "ledger.db"))).toBe(false);
  });

  test.each([0o777, 0o1777])("are not made in a folder of mode %o", async (mode) => {
    const folder = join(newFolder(), "open");
    mkdirSync(folder);
    chmodSync(folder, mode);
    expect((await refusal(join(folder, "ledger.db"))).message).toMatch(/everybody can write/);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("are refused when everybody can write to them", async () => {
    const path = join(newFolder(), "ledger.db");
    writeFileSync(path, "");
    chmodSync(path, 0o666);
    expect((await refusal(path)).message).toMatch(/writable by everybody/);
  });

  test("are not in place of a folder", async () => {
    const path = join(newFolder(), "ledger.db");
    mkdirSync(path);
    expect((await refusal(path)).message).toMatch(/not a folder or a device/);
  });

  test("are not in place of a FIFO", async () => {
    const path = join(newFolder(), "ledger.db");
    execFileSync("mkfifo", [path]);
    expect((await refusal(path)).message).toMatch(/not a folder or a device/);
  });

  test("are not in place of a socket", async () => {
    const path = join(newFolder(), "ledger.db");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    expect((await refusal(path)).message).toMatch(/not a folder or a device/);
    await new Promise((resolve) => server.close(resolve));
  });

  test("are not in place of a device", async () => {
    expect((await refusal("/dev/null")).message).toMatch(/not a folder or a device|everybody/);
  });

  test("are not made under a file", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "theirs");
    expect((await refusal(join(file, "ledger.db"))).message).toMatch(/must be in a folder/);
    expect((await refusal(join(file, "more", "ledger.db"))).path).toBe("sqlite.path");
    expect(readFileSync(file, "utf8")).toBe("theirs");
  });

  test.skipIf(isRoot)("are refused when they cannot be written to", async () => {
    const path = join(newFolder(), "ledger.db");
    writeFileSync(path, "");
    chmodSync(path, 0o400);
    expect((await refusal(path)).message).toMatch(/can be written to/);
    const folder = newFolder();
    chmodSync(folder, 0o500);
    expect((await refusal(join(folder, "ledger.db"))).message).toMatch(/can be written to/);
  });
});

describe("a file that is there", () => {
  test("and empty becomes a ledger", async () => {
    const path = join(newFolder(), "ledger.db");
    writeFileSync(path, "", { mode: 0o600 });
    const store = sqliteStore({ path });
    expect((await store.open()).sequence).toBe(0);
    await store.close();
  });

  test.each([
    ["text", Buffer.from("not a database")],
    ["much text", Buffer.from("not a database ".repeat(1_000))],
    ["zeros", Buffer.alloc(8_192)],
  ])("and holds %s is refused and left as it is", async (_, content) => {
    const path = join(newFolder(), "ledger.db");
    writeFileSync(path, content, { mode: 0o600 });
    await refusal(path);
    expect(readFileSync(path).equals(content)).toBe(true);
  });

  test.each(["DELETE", "WAL"])(
    "and is another program's database (%s) is refused",
    async (mode) => {
      const folder = newFolder();
      const path = join(folder, "ledger.db");
      const db = new DatabaseSync(path);
      db.exec(
        `PRAGMA journal_mode = ${mode}; CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)`,
      );
      db.close();
      const before = readFileSync(path);
      expect((await refusal(path)).message).toMatch(/another program/);
      expect(readdirSync(folder)).toEqual(["ledger.db"]);
      expect(readFileSync(path).equals(before)).toBe(true);
    },
  );

  test("and is another program's, killed before its log was in the file, is left with its log", async () => {
    const folder = newFolder();
    const db = new DatabaseSync(join(folder, "theirs.db"));
    db.exec("PRAGMA journal_mode = WAL; CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
    db.exec("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO theirs VALUES (2)");
    const path = join(newFolder(), "ledger.db");
    for (const suffix of ["", "-wal"]) {
      copyFileSync(join(folder, `theirs.db${suffix}`), path + suffix);
      chmodSync(path + suffix, 0o600);
    }
    db.close();
    const contents = () => ["", "-wal"].map((suffix) => readFileSync(path + suffix, "latin1"));
    const before = contents();
    expect(before[1]).not.toBe("");
    expect((await refusal(path)).message).toMatch(/another program/);
    expect(contents()).toEqual(before);
  });

  test.runIf(existsSync("/proc/self/fd"))("and is refused is not kept open", async () => {
    const path = join(newFolder(), "ledger.db");
    const db = new DatabaseSync(path);
    db.exec("CREATE TABLE theirs (a)");
    db.close();
    await refusal(path);
    expect(openFiles()).not.toContain(path);
    const own = sqliteStore({ path: join(newFolder(), "ledger.db") });
    await own.open();
    expect(openFiles()).toContain(own.address);
    await own.close();
    expect(openFiles()).not.toContain(own.address);
  });

  test("and has another application's mark is refused, also without tables", async () => {
    const path = join(newFolder(), "ledger.db");
    const db = new DatabaseSync(path);
    db.exec("PRAGMA application_id = 7");
    db.close();
    expect((await refusal(path)).message).toMatch(/another program/);
  });

  test("and is a ledger with a damaged page is refused", async () => {
    const path = join(newFolder(), "ledger.db");
    const store = sqliteStore({ path });
    await store.open();
    await store.close();
    const bytes = readFileSync(path);
    bytes.fill(0x55, 100, 4_096);
    writeFileSync(path, bytes);
    expect((await refusal(path)).message).toMatch(/damaged/);
  });

  test("and was left by a process killed in a checkpoint, after its first page, is opened", async () => {
    const folder = newFolder();
    const path = join(folder, "ledger.db");
    const store = sqliteStore({ path });
    await store.open();
    const short = readFileSync(path);
    const records = Array.from({ length: 50 }, (_, n) => recordOf({ id: `operation ${n}` }));
    for (const record of records) await mustSwap(store, create(record));
    const log = readFileSync(`${path}-wal`);
    await store.close();
    const whole = readFileSync(path);
    expect(whole.length).toBeGreaterThan(short.length);

    const left = join(folder, "left.db");
    writeFileSync(left, Buffer.concat([whole.subarray(0, 4_096), short.subarray(4_096)]), {
      mode: 0o600,
    });
    writeFileSync(`${left}-wal`, log, { mode: 0o600 });
    const after = sqliteStore({ path: left });
    for (const { tenant, id } of records) {
      expect((await after.read(tenant, id)).stored?.record).toMatchObject({ id });
    }
    await after.close();
  });

  test("and was written by a newer version is refused", async () => {
    const path = join(newFolder(), "ledger.db");
    const store = sqliteStore({ path });
    await store.open();
    await store.close();
    const db = new DatabaseSync(path);
    db.exec("PRAGMA user_version = 99");
    db.close();
    expect((await refusal(path)).message).toMatch(/newer version/);
  });

  test("and is refused is refused for each that asks at once", async () => {
    const path = join(newFolder(), "ledger.db");
    writeFileSync(path, "not a database", { mode: 0o600 });
    const store = sqliteStore({ path });
    const asked = [store.open(), store.swap(create(recordOf())), store.read("acme", "a")];
    for (const end of await Promise.allSettled(asked)) {
      expect(end).toMatchObject({ status: "rejected", reason: { path: "sqlite.path" } });
    }
    await store.close();
  });

  test("can be opened once it is put right", async () => {
    const path = join(newFolder(), "ledger.db");
    writeFileSync(path, "not a database", { mode: 0o600 });
    const store = sqliteStore({ path });
    await expect(store.open()).rejects.toMatchObject({ path: "sqlite.path" });
    writeFileSync(path, "");
    await mustSwap(store, create(recordOf()));
    await store.close();
  });
});
