/**
 * What `holdfire init` changes on disk: it writes the files of a template, and nothing over what is there, and keeps the
 * ledger out of git.
 *
 * @module
 */

import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { peek } from "../../lang/peek.ts";
import { readStart } from "../doctor/read-bounded.ts";
import { CONFIG_NAMES } from "../load-config.ts";
import type { Start } from "./project.ts";

interface NewFile {
  readonly name: string;
  readonly text: string;
}

export interface Written {
  readonly written: readonly NewFile[];
  /** Names of files that were there before. */
  readonly leftAlone: readonly string[];
}

export function writeTemplate(
  folder: string,
  { template, ending, app }: Pick<Start, "template" | "ending" | "app">,
  dryRun: boolean,
): Written {
  const written: NewFile[] = [];
  const leftAlone: string[] = [];
  const put = (name: string, text: string, others: readonly string[]) => {
    const inTheWay = others.find((other) => existsSync(join(folder, other)));
    if (inTheWay !== undefined) leftAlone.push(inTheWay);
    else if (dryRun || createFile(join(folder, name), text)) written.push({ name, text });
    else leftAlone.push(name);
  };
  // A config of another ending would be hidden by ours.
  put(`holdfire.config.${ending}`, template.config(ending, app), CONFIG_NAMES);
  const name = `holdfire.example.${ending}`;
  put(name, template.program(ending), [name]);
  return { written, leftAlone };
}

/** `false` if there is one, even one that came this very moment, or a link that leads nowhere. */
function createFile(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (peek(error, "code") === "EEXIST") return false;
    throw error;
  }
}

const LINE = ".holdfire/";
const FILE_BYTES = 1_048_576;

/** `none`: the project is in no git folder. `there`: it is ignored already. */
export type Ignored = "none" | "there" | "added";

/** The ledger holds what agents did, not what people wrote. */
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
