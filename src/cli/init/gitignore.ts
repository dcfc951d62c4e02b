/**
 * Keeps the ledger out of git: it holds what agents did, not what people wrote.
 *
 * @module
 */

import { appendFileSync, existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readStart } from "../doctor/read-bounded.ts";

const LINE = ".holdfire/";
const FILE_BYTES = 1_048_576;

/** `none`: the project is in no git folder. `there`: it is ignored already. */
export type Ignored = "none" | "there" | "added";

export function ignoreLedger(folder: string, dryRun: boolean): Ignored {
  const above = gitFolders(folder);
  if (above.length === 0) return "none";
  if (above.some((at) => covers(at, at === above[0]))) return "there";
  const file = join(folder, ".gitignore");
  const text = readStart(file, FILE_BYTES) ?? "";
  const broken = text !== "" && !text.endsWith("\n");
  if (!dryRun) appendFileSync(file, `${broken ? "\n" : ""}${LINE}\n`);
  return "added";
}

/** From the project's folder up to the one that git knows; none if there is none. */
function gitFolders(folder: string): readonly string[] {
  const passed: string[] = [];
  for (let at = resolve(folder); ; at = dirname(at)) {
    passed.push(at);
    // A file in a worktree or a submodule.
    if (existsSync(join(at, ".git"))) return passed;
    if (dirname(at) === at) return [];
  }
}

/** A pattern that begins with a slash counts in its own folder only. */
function covers(folder: string, isOwn: boolean): boolean {
  const lines = (readStart(join(folder, ".gitignore"), FILE_BYTES) ?? "").split("\n");
  const patterns = [".holdfire", "**/.holdfire", ...(isOwn ? ["/.holdfire"] : [])];
  return lines.some((line) => patterns.includes(line.trim().replace(/\/$/, "")));
}
