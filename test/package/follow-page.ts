/**
 * Does what a page says, to the letter: saves what it says to save, types what it says to type, runs every other
 * block of TypeScript, and compares what is printed with what the page shows.
 *
 * @module
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tryProgram } from "./run-program.ts";

export interface Followed {
  readonly commands: readonly string[];
  /** Names of the files that were saved. */
  readonly saved: readonly string[];
  /** How many blocks were run that have no name: each prints what its comments `//=>` say. */
  readonly ran: number;
  /** How often the page showed what is printed, and it was so. */
  readonly compared: number;
}

interface Fence {
  readonly language: string;
  readonly text: string;
  /** What stands between it and the fence before. */
  readonly before: string;
}

export function followPage(
  page: string,
  folder: string,
  replaced: Readonly<Record<string, string>>,
): Followed {
  const commands: string[] = [];
  const saved: string[] = [];
  let ran = 0;
  let compared = 0;
  let cwd = folder;
  let printed: string | undefined;
  for (const { language, text, before } of fencesOf(readFileSync(page, "utf8"))) {
    const name = language === "ts" ? SAVE.exec(before)?.[1] : undefined;
    if (name !== undefined) {
      writeFileSync(join(cwd, name), text);
      saved.push(name);
    } else if (language === "ts") {
      ran += 1;
      const shown = [...text.matchAll(/^\s*\/\/=> (.*)$/gm)]
        .map(([, line]) => `${line}\n`)
        .join("");
      const file = `block-${ran}.mts`;
      writeFileSync(join(cwd, file), text);
      const { status, out, err } = tryProgram("node", [file], cwd);
      if (status !== 0 || out !== shown)
        throw new Error(`${page}, block ${ran}:\n${text}\nended with ${status}\n${out}\n${err}`);
    } else if (language === "sh") {
      const lines = text.trimEnd().split("\n");
      commands.push(...lines);
      ({ cwd, printed } = type(
        lines.map((line) => replaced[line] ?? line),
        cwd,
      ));
      continue;
    } else if (language === "" && printed !== undefined && before.trim() === "") {
      if (timeless(printed) !== timeless(text))
        throw new Error(`${page} shows\n${text}\nbut it prints\n${printed}`);
      compared += 1;
    }
    printed = undefined;
  }
  return { commands, saved, ran, compared };
}

/** How long ago something was is not the same twice, nor is the width of its column. */
const timeless = (text: string): string =>
  text.replaceAll(/ +\d+ (?:ms|s|min)\b/g, " some time").replaceAll(/ {2,}/g, " ");

const SAVE = /\bSave this as `([\w.-]+)`/;

function fencesOf(page: string): readonly Fence[] {
  const parts = page.split(/^```/m);
  return parts.flatMap((part, at) => {
    if (at % 2 === 0) return [];
    const end = part.indexOf("\n");
    return [
      { language: part.slice(0, end), text: part.slice(end + 1), before: parts[at - 1] ?? "" },
    ];
  });
}

/** All lines in one shell, which ends at the first that fails, and tells where it is in the end. */
function type(lines: readonly string[], cwd: string): { cwd: string; printed: string } {
  const script = ["set -e", ...lines, "pwd >&3"].join("\n");
  const { status, out, err } = tryProgram("bash", ["-c", `{ ${script}\n} 3>.pwd`], cwd);
  if (status !== 0) throw new Error(`${lines.join("\n")}\nended with ${status}\n${out}\n${err}`);
  return { cwd: readFileSync(join(cwd, ".pwd"), "utf8").trim(), printed: out };
}
