/**
 * Whether a project's source mentions an `ownRetries`: a hint, not a proof. It finds files that name
 * both the subpath and the function, not of calls that are made.
 *
 * @module
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { namesIn, readStart } from "./read-bounded.ts";

const SOURCE = /\.[cm]?[jt]sx?$/;
const NOT_SOURCE = new Set(["node_modules", "dist", "build", "out", "coverage"]);
const MOST_FILES = 5_000;
const MOST_ENTRIES = 50_000;
const FILE_BYTES = 524_288;
const DEEPEST = 16;

export interface Imports {
  /** The subpaths that were seen, e.g. `holdfire/openai`. */
  readonly seen: ReadonlySet<string>;
  readonly files: number;
  /** There was more than was read. */
  readonly cut: boolean;
}

export function findImports(folder: string, subpaths: readonly string[]): Imports {
  const seen = new Set<string>();
  let files = 0;
  let entries = 0;
  let cut = false;

  function look(path: string) {
    const text = readStart(path, FILE_BYTES);
    files += 1;
    if (!text?.includes("ownRetries")) return;
    for (const subpath of subpaths) {
      if (["'", '"', "`"].some((quote) => text.includes(quote + subpath + quote))) {
        seen.add(subpath);
      }
    }
  }

  function walk(place: string, depth: number) {
    for (const name of namesIn(place)) {
      entries += 1;
      cut ||= files >= MOST_FILES || entries >= MOST_ENTRIES || depth > DEEPEST;
      if (cut) return;
      if (name.startsWith(".") || NOT_SOURCE.has(name)) continue;
      const path = join(place, name);
      const kind = kindOf(path);
      if (kind === "folder") walk(path, depth + 1);
      if (kind === "file" && SOURCE.test(name)) look(path);
    }
  }

  walk(folder, 0);
  return { seen, files, cut };
}

/** A link is neither: it may lead in a circle. */
function kindOf(path: string): "folder" | "file" | undefined {
  try {
    const stats = lstatSync(path);
    if (stats.isDirectory()) return "folder";
    return stats.isFile() ? "file" : undefined;
  } catch {
    return undefined;
  }
}
