/**
 * Writes the files of a template, and nothing over what is there.
 *
 * @module
 */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { peek } from "../../lang/peek.ts";
import { CONFIG_NAMES } from "../load-config.ts";
import type { Start } from "./project.ts";

export interface NewFile {
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
