/**
 * Text in columns.
 *
 * @module
 */

import { stripVTControlCharacters } from "node:util";

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right" | undefined;
}

/** Lines of a table, without a border. Cells may be painted; make foreign text `visible` first. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const all = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, at) => Math.max(...all.map((row) => widthOf(row[at] ?? ""))));
  return all.map((row) =>
    columns
      .map(({ align }, at) => pad(row[at] ?? "", widths[at] ?? 0, align))
      .join("  ")
      .trimEnd(),
  );
}

function pad(cell: string, width: number, align: Column["align"]): string {
  const space = " ".repeat(Math.max(0, width - widthOf(cell)));
  return align === "right" ? space + cell : cell + space;
}

const widthOf = (cell: string): number => stripVTControlCharacters(cell).length;
