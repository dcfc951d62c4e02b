import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder, PROJECT_FOLDER, syncIfPermitted } from "../../src/ledger/private-folder.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";

const newFolder = temporaryFolder();

test("a folder is made with those above it, for its owner alone, and the outermost is told", () => {
  const above = newFolder();
  const folder = join(above, "one", "two");
  expect(makeFolder(folder)).toBe(join(above, "one"));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(above, "one")).mode & 0o777).toBe(0o700);
  expect(makeFolder(folder)).toBeUndefined();
});

test("the folder of a project is kept out of git, wherever in it the ledger lies", () => {
  for (const inside of [[], ["ledger", "witness"]]) {
    const project = join(newFolder(), PROJECT_FOLDER);
    makeFolder(join(project, ...inside));
    const ignored = join(project, ".gitignore");
    expect(readFileSync(ignored, "utf8")).toBe("*\n");
    expect(statSync(ignored).mode & 0o777).toBe(0o600);
  }
});

test("no other folder is, and none that was there before", () => {
  const above = newFolder();
  makeFolder(join(above, "elsewhere", "ledger"));
  expect(existsSync(join(above, "elsewhere", ".gitignore"))).toBe(false);
  const project = join(above, PROJECT_FOLDER);
  mkdirSync(project);
  makeFolder(project);
  makeFolder(join(project, "ledger"));
  expect(existsSync(join(project, ".gitignore"))).toBe(false);
});

test("a file is synced if it can be, and what stops it is told", () => {
  const file = join(newFolder(), "file");
  writeFileSync(file, "");
  const handle = openSync(file, "r+");
  expect(() => syncIfPermitted(handle)).not.toThrow();
  closeSync(handle);
  expect(() => syncIfPermitted(handle)).toThrow(/EBADF/);
});
