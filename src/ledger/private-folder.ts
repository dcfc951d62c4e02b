/**
 * Makes a folder for the ledger or its witness: for its owner alone, and out of git.
 *
 * @module
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

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

function keepOutOfGit(folder: string): void {
  try {
    writeFileSync(join(folder, ".gitignore"), "*\n", { flag: "wx", mode: 0o600 });
  } catch {
    // It is there already, or it cannot be written: the ledger works without it.
  }
}
