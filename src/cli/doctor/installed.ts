/**
 * Which packages are installed in a `node_modules`, however deep, in whatever way npm, pnpm, Yarn or
 * Bun has laid them out.
 *
 * @module
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { namesIn, readJson } from "./read-bounded.ts";

/** A package, in one version. */
export interface FoundPackage {
  readonly name: string;
  readonly version: string;
}

const MOST_FOLDERS = 50_000;
const DEEPEST = 12;
const MANIFEST_BYTES = 1_048_576;

export interface Installed {
  readonly packages: readonly FoundPackage[];
  /** It was too large to look at all of it. */
  readonly cut: boolean;
}

/** The packages below `folder` (a `node_modules`) whose name is wanted. */
export function findInstalled(folder: string, isWanted: (name: string) => boolean): Installed {
  const packages: FoundPackage[] = [];
  let left = MOST_FOLDERS;

  function add(name: string, path: string) {
    const manifest = readJson(join(path, "package.json"), MANIFEST_BYTES);
    if (typeof manifest?.version === "string") packages.push({ name, version: manifest.version });
  }

  function walk(modules: string, depth: number) {
    for (const entry of namesIn(modules)) {
      if (left <= 0) return;
      if (entry === ".pnpm") walkPnpm(join(modules, entry));
      if (entry.startsWith(".")) continue;
      const names = entry.startsWith("@")
        ? namesIn(join(modules, entry)).map((name) => `${entry}/${name}`)
        : [entry];
      for (const name of names) visit(name, join(modules, name), depth);
    }
  }

  function visit(name: string, path: string, depth: number) {
    left -= 1;
    if (isWanted(name)) add(name, path);
    // A link leads to a place that is walked by itself, or out of the project.
    if (depth < DEEPEST && left > 0 && !isLink(path)) walk(join(path, "node_modules"), depth + 1);
  }

  /** `.pnpm/@scope+name@1.2.3_peer/node_modules/@scope/name`: every version that is installed. */
  function walkPnpm(place: string) {
    for (const entry of namesIn(place)) {
      left -= 1;
      const name = entry.slice(0, entry.indexOf("@", 1)).replace("+", "/");
      if (left > 0 && isWanted(name)) add(name, join(place, entry, "node_modules", name));
    }
  }

  walk(folder, 0);
  return { packages, cut: left <= 0 };
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return true;
  }
}
