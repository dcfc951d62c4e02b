/**
 * Makes a folder for the ledger or its witness: for its owner alone, and out of git. Syncs what is made there.
 *
 * @module
 */

import { fsyncSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { peek } from "../lang/peek.ts";

/** The folder in a project that has the default ledger. */
export const PROJECT_FOLDER = ".holdfire";

/** Returns the outermost folder that was made, or `undefined` if all were there. */
export function makeFolder(folder: string): string | undefined {
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (made === undefined) return undefined;
  // Never above what was made: a folder that was there belongs to the user.
  for (let at = folder; at !== dirname(made) && at !== dirname(at); at = dirname(at)) {
    if (basename(at) === PROJECT_FOLDER) keepOutOfGit(at);
  }
  return made;
}

/**
 * As `fsyncSync`, which newer versions of Node refuse under `--permission`. A loss of power may then undo the making of
 * a file; what SQLite writes, it syncs by itself.
 */
export function syncIfPermitted(handle: number): void {
  try {
    fsyncSync(handle);
  } catch (error) {
    if (peek(error, "code") !== "ERR_ACCESS_DENIED") throw error;
  }
}

function keepOutOfGit(folder: string): void {
  try {
    writeFileSync(join(folder, ".gitignore"), "*\n", { flag: "wx", mode: 0o600 });
  } catch {
    // It is there already, or it cannot be written: the ledger works without it.
  }
}
