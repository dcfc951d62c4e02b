/**
 * Where the file may be, and how it is made: for its owner's eyes only, and never through a link.
 *
 * Everything here says what is wrong in words, or `undefined`; nothing is written until all is well.
 *
 * @module
 */

import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

const WORLD_WRITABLE = 0o002;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const MAX_PATH = 4_096;

/** What is wrong with a path before the disk is asked. */
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
  const folderStats = statSync(folder, { throwIfNoEntry: false });
  if (folderStats && !folderStats.isDirectory()) return "must be in a folder.";
  if (folderStats && isWorldWritable(folderStats)) {
    return "must not be in a folder that everybody can write to. Give it a folder of its own.";
  }
  if (folderStats && !isAllowed(folder)) return "must be in a folder that can be written to.";
  for (const suffix of ["", "-wal", "-shm", "-journal"]) {
    const stats = lstatSync(file + suffix, { throwIfNoEntry: false });
    if (!stats) continue;
    if (stats.isSymbolicLink()) return "must not be a symbolic link.";
    if (!stats.isFile()) return "must be a file, not a folder or a device.";
    if (isWorldWritable(stats)) return "must not be writable by everybody.";
    if (!isAllowed(file + suffix)) return "must be a file that can be written to.";
  }
  return undefined;
}

/** Makes the file and its folder if they are not there. Returns the file's true path. */
export function makePlace(file: string): string {
  const folder = dirname(file);
  const made = mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  // The names must be as durable as what is written under them.
  if (made !== undefined) syncFolders(folder, dirname(made));
  try {
    // Made here, not by SQLite: its other files take over the rights of this one.
    closeSync(openSync(file, "wx", FILE_MODE));
    syncFolders(folder, folder);
  } catch (error) {
    if (!isAlreadyThere(error)) throw error;
  }
  return join(realpathSync(folder), basename(file));
}

/** Tells one file from another put in its place. */
export function identityOf(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/** Windows has no such bits. */
const isWorldWritable = ({ mode }: Stats): boolean =>
  process.platform !== "win32" && (mode & WORLD_WRITABLE) !== 0;

function isAllowed(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch (error) {
    // Another process has just closed the last connection, and took its journal along.
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

function syncFolders(innermost: string, outermost: string): void {
  if (process.platform === "win32") return;
  for (let folder = innermost; ; folder = dirname(folder)) {
    const handle = openSync(folder, "r");
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    if (folder === outermost || folder === dirname(folder)) return;
  }
}

const isAlreadyThere = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EEXIST";
