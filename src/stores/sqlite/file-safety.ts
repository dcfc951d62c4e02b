/**
 * Where the file may be, and how it is made: readable by its owner only, and never through a link.
 *
 * The checks return what is wrong in words, or `undefined`; nothing is written until all have passed.
 *
 * @module
 */

import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { peek } from "../../lang/peek.ts";
import { makeFolder, syncIfPermitted } from "../../ledger/private-folder.ts";

const WORLD_WRITABLE = 0o002;
const FILE_MODE = 0o600;
const MAX_PATH = 4_096;

/** What to do where the disk cannot be written to. */
export const ELSEWHERE =
  "Set HOLDFIRE_STORE to a file on a disk that can be written to and is kept, or pass a store.";

/** What is wrong with a path, found without reading the disk. */
export function pathProblem(path: unknown): string | undefined {
  if (typeof path !== "string" || path === "") return "must be a path to a file.";
  if (path.length > MAX_PATH) return `must be at most ${MAX_PATH} characters.`;
  if (path.includes("\0")) return "must not contain a NUL character.";
  if (path === ":memory:") return "must be a file. Use memoryStore() to keep nothing.";
  if (path.toLowerCase().startsWith("file:") || path.includes("://") || path.includes("?")) {
    return "must be a plain path, not a URI.";
  }
  if (path.endsWith("/") || path.endsWith("\\")) return "must name a file, not a folder.";
  return undefined;
}

/** What is wrong with the place on disk, as far as it exists. Writes nothing. */
export function placeProblem(file: string): string | undefined {
  const folder = dirname(file);
  const folderStats = fs.statSync(folder, { throwIfNoEntry: false });
  if (folderStats && !folderStats.isDirectory()) return "must be in a folder.";
  if (folderStats && isWorldWritable(folderStats)) {
    return "must not be in a folder that everybody can write to. Give it a folder of its own.";
  }
  if (folderStats && !isAllowed(folder))
    return `must be in a folder that can be written to. ${ELSEWHERE}`;
  for (const suffix of ["", "-wal", "-shm", "-journal"]) {
    const stats = fs.lstatSync(file + suffix, { throwIfNoEntry: false });
    if (!stats) continue;
    if (stats.isSymbolicLink()) return "must not be a symbolic link.";
    if (!stats.isFile()) return "must be a file, not a folder or a device.";
    if (isWorldWritable(stats)) return "must not be writable by everybody.";
    if (!isAllowed(file + suffix)) return `must be a file that can be written to. ${ELSEWHERE}`;
  }
  return undefined;
}

/** Makes the file and its folder if they are not there. Returns the file's real path. */
export function makeFile(file: string): string {
  const folder = dirname(file);
  const made = makeFolder(folder);
  // The names must be as durable as what is written under them.
  if (made !== undefined) syncFolders(folder, dirname(made));
  try {
    // Made here, not by SQLite: its other files get the rights of this one.
    fs.closeSync(fs.openSync(file, "wx", FILE_MODE));
    syncFolders(folder, folder);
  } catch (error) {
    if (peek(error, "code") !== "EEXIST") throw error;
  }
  return join(fs.realpathSync(folder), basename(file));
}

/** Differs for another file that was put in its place. */
export function identityOf(file: string): string | undefined {
  const stats = fs.statSync(file, { throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/** Windows has no such bits. */
const isWorldWritable = ({ mode }: fs.Stats): boolean =>
  process.platform !== "win32" && (mode & WORLD_WRITABLE) !== 0;

const DENIED: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS"]);

function isAllowed(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.R_OK | fs.constants.W_OK);
    return true;
  } catch (error) {
    // Not if another process has just removed its journal, nor if a runtime keeps the question itself from us.
    return !DENIED.has(peek(error, "code"));
  }
}

function syncFolders(innermost: string, outermost: string): void {
  if (process.platform === "win32") return;
  for (let folder = innermost; ; folder = dirname(folder)) {
    const handle = fs.openSync(folder, "r");
    try {
      syncIfPermitted(handle);
    } finally {
      fs.closeSync(handle);
    }
    if (folder === outermost || folder === dirname(folder)) return;
  }
}
