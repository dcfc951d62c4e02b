/**
 * Projects for `holdfire init`, in which `holdfire` is the sources of this folder.
 *
 * @module
 */

import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import manifest from "../../package.json" with { type: "json" };

/** Subpaths and the files they are made from. */
export const SOURCES: ReadonlyMap<string, string> = new Map(
  Object.entries(manifest.exports).flatMap(([subpath, entry]) =>
    typeof entry === "string"
      ? []
      : [[subpath, entry.default.replace("./dist/", "./src/").replace(/\.js$/, ".ts")]],
  ),
);

/** A folder with this package.json, and nothing else. */
export function emptyProject(given: object): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-init-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), JSON.stringify(given));
  return folder;
}

/** The same, with all that is installed here, and with holdfire. */
export function installedProject(given: object): string {
  const folder = emptyProject(given);
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  for (const name of readdirSync("node_modules")) {
    if (!name.startsWith(".")) symlinkSync(resolve("node_modules", name), join(modules, name));
  }
  // Node strips no types below node_modules: the link must lead out of it.
  const own = join(folder, "holdfire");
  mkdirSync(own);
  symlinkSync(resolve("src"), join(own, "src"));
  const exports = Object.fromEntries(SOURCES);
  writeFileSync(join(own, "package.json"), JSON.stringify({ type: "module", exports }));
  symlinkSync(own, join(modules, "holdfire"));
  return folder;
}
