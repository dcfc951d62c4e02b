/**
 * A table in a page of the docs that a run writes: between two comments, of which the first names the command.
 *
 * @module
 */

import { readFileSync, writeFileSync } from "node:fs";

export interface TableInPage {
  /** In the comments: `<!-- apps: written by … -->` and `<!-- end of apps -->`. */
  readonly name: string;
  readonly command: string;
  /** From the root of the repository. */
  readonly page: string;
}

export interface PlacedTable {
  /** As the page has it. */
  readonly text: string;
  write(table: string): void;
}

export function findTable({ name, command, page: path }: TableInPage): PlacedTable {
  const page = new URL(`../${path}`, import.meta.url);
  const text = readFileSync(page, "utf8");
  const opening = `<!-- ${name}: written by ${command} -->\n\n`;
  const begin = text.indexOf(opening) + opening.length;
  const end = text.indexOf(`\n<!-- end of ${name} -->`, begin);
  if (begin < opening.length || end < 0) throw new Error(`${path} has no place for ${name}.`);
  return {
    text: text.slice(begin, end),
    write: (table) => writeFileSync(page, text.slice(0, begin) + table + text.slice(end)),
  };
}

/** The first row is the head. */
export function markdownOf([head = [], ...rows]: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows];
  const widths = head.map((_, n) => Math.max(...lines.map((line) => line[n]?.length ?? 0)));
  const lineOf = (cells: readonly string[], fill: string) =>
    `| ${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0, fill)).join(" | ")} |\n`;
  return lines.map((line, n) => lineOf(line, n === 1 ? "-" : " ")).join("");
}
