/**
 * A group's figures as rows of text: once for the terminal, once for the page.
 *
 * @module
 */

import {
  type Figures,
  ratioOf,
  type Series,
  type Spread,
  spreadOf,
  spreadText,
} from "./figures.ts";
import type { Group } from "./groups.ts";

/** How a series compares with its base at the same point. `undefined` for the base itself. */
export function compare(one: Series, group: Group, { series }: Figures): Spread | undefined {
  const { compared, columns } = group;
  if (!compared || one.name === compared.base) return undefined;
  const base = series.find(
    ({ group: of, name, at }) => of === one.group && name === compared.base && at === one.at,
  );
  const { measure } = columns[0];
  const [own, other] = [one.rounds[measure] ?? [], base?.rounds[measure] ?? []];
  return compared.as === "row_by_base" ? ratioOf(own, other) : ratioOf(other, own);
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** One row for each series: where, what, the figures, the ratio, and what went wrong. */
export function tableOf(group: Group, figures: Figures): Table {
  const own = figures.series.filter(({ group: name }) => name === group.name);
  const hasPoints = own.some(({ at }) => at !== "");
  const hasFaults = own.some(({ fault }) => fault !== undefined);
  const columns = group.columns.filter(({ measure }) => own.some(({ rounds }) => rounds[measure]));
  const { compared } = group;
  const head = [
    ...(hasPoints ? [""] : []),
    "",
    ...columns.map((column) => column.head),
    ...(compared ? [compared.head] : []),
    ...(hasFaults ? ["answers"] : []),
  ];
  const measured = own.map((one, index) => [
    ...(hasPoints ? [own[index - 1]?.at === one.at ? "" : one.at] : []),
    one.name,
    ...columns.map(({ measure }) => spreadText(spreadOf(one.rounds[measure] ?? []))),
    ...(compared
      ? [one.name === compared.base ? "" : spreadText(compare(one, group, figures))]
      : []),
    ...(hasFaults ? [one.fault ?? "right"] : []),
  ]);
  const missing = figures.notRun
    .filter(({ group: name }) => name === group.name)
    .map(({ name, why }) => [
      ...(hasPoints ? [""] : []),
      name,
      `not run: ${firstLine(why)}`,
      ...columns.slice(1).map(() => ""),
      ...(compared ? [""] : []),
      ...(hasFaults ? [""] : []),
    ]);
  return { head, rows: [...measured, ...missing] };
}

/** Of an error only what fits into a cell. */
const firstLine = (why: string): string => (why.split("\n")[0] ?? "").slice(0, 100);

export function textOf({ head, rows }: Table): string {
  const lines = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? "").length)));
  const isLabel = (at: number): boolean => head[at] === "";
  return lines
    .map((line) =>
      line
        .map((cell, at) =>
          isLabel(at) ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function markdownOf({ head, rows }: Table): string {
  const lines = [head, ...rows].map((line) => line.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, at) => Math.max(3, ...lines.map((line) => (line[at] ?? "").length)));
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const [first = [], ...rest] = lines;
  return [row(first), row(widths.map((width) => "-".repeat(width))), ...rest.map(row)].join("\n");
}
