/**
 * Where the ledger is when nobody says: in the project, so that all its processes find the same one.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const IN_PROJECT = join(".holdfire", "ledger.db");

/** `HOLDFIRE_STORE`, else `.holdfire/ledger.db` beside the nearest package.json, else in `cwd`. */
export function defaultPath(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): string {
  const named = env.HOLDFIRE_STORE;
  // Not resolved: a path that is none, such as a URI, must still look like one when it is checked.
  if (named) return named;
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return join(folder, IN_PROJECT);
    if (folder === dirname(folder)) return join(resolve(cwd), IN_PROJECT);
  }
}
