/**
 * The matrix as a picture: faults downwards, stacks across, a column for each class of service. Each cell has a colour
 * and a symbol.
 *
 * @module
 */

import type { Cell, Column, Matrix, Row } from "./matrix.ts";
import { CLASS_SAYS, LETTERS, SYMBOLS } from "./symbols.ts";
import { type Totals, totalsOf } from "./totals.ts";

const CELL = { width: 15, height: 18 };
const GAP = 10;
const LEFT = 268;
const TOP = 86;
const HEADING = 22;
const MARGIN = 16;

const GROUPS: Readonly<Record<string, string>> = {
  network: "The network",
  reader: "A lost reply and a broken reader",
  service: "The service and the tool",
  agent: "The agent and the person",
  process: "The process",
};

const SUMS: readonly (readonly [string, (totals: Totals) => number])[] = [
  ["duplicates", ({ score }) => score.duplicates],
  ["lost, and not told", ({ score }) => score.silentLosses],
  ["untrue words", ({ score }) => score.untrueWords],
  ["false dedupes", ({ score }) => score.falseDedupes],
  ["wanted and not done", ({ score }) => score.wantedNotDone],
  ["left unknown, and told so", ({ score }) => score.leftUnknown],
];

/** With `isDetailed` each cell says on hovering what happened in it. */
export function drawMatrix(matrix: Matrix, isDetailed = false): string {
  const { columns, classes } = matrix;
  const group = classes.length * CELL.width + GAP;
  const width = LEFT + columns.length * group + MARGIN;
  const parts: string[] = [];
  let y = TOP;
  let last: string | undefined;
  for (const row of matrix.rows) {
    if (row.group !== last) {
      y += HEADING;
      parts.push(text(MARGIN, y - 6, GROUPS[row.group] ?? row.group, "group"));
      last = row.group;
    }
    parts.push(text(MARGIN, y + 13, row.name, "row"), ...rowOf(matrix, row, y, isDetailed));
    y += CELL.height;
  }
  const sums = totalsOf(matrix);
  y += HEADING + 6;
  parts.push(text(MARGIN, y - 6, "In all (without the liar)", "group"));
  for (const [name, of] of SUMS) {
    parts.push(text(MARGIN, y + 13, name, "row"));
    for (const [index, totals] of sums.entries()) {
      const value = of(totals);
      const x = LEFT + index * group + (group - GAP) / 2;
      parts.push(text(x, y + 13, String(value), value === 0 ? "zero" : "sum"));
    }
    y += CELL.height;
  }
  const bottom = y + 6;
  parts.push(...legendOf(matrix, bottom + 24, width));
  const height = bottom + 140;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(titleOf(matrix))}</title>
<style>
text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
.title { font-size: 16px; font-weight: 600; } .group { font-weight: 600; } .small { font-size: 11px; fill: #59636e; }
.head { font-size: 11px; font-weight: 600; text-anchor: middle; } .class { font-size: 10px; fill: #59636e; text-anchor: middle; }
.symbol { font-weight: 700; text-anchor: middle; } .sum { font-weight: 700; text-anchor: middle; } .zero { text-anchor: middle; fill: #59636e; }
</style>
<defs>${VERDICTS.map(lookOf).join("")}</defs>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="#ffffff" stroke="#d1d9e0"/>
${text(MARGIN, 28, "What becomes of one tool call when something goes wrong", "title")}
${ownFrame(columns, group, bottom)}
${columns.map((column, index) => headOf(column, matrix, LEFT + index * group, group - GAP)).join("\n")}
${parts.join("\n")}
</svg>
`;
}

function rowOf(matrix: Matrix, { id, name }: Row, y: number, isDetailed: boolean): string[] {
  const { columns, classes, cells } = matrix;
  const group = classes.length * CELL.width + GAP;
  return columns.flatMap((column, index) =>
    classes.map((toolClass, at) => {
      const cell = cells.find(
        (one) => one.fault === id && one.stack === column.id && one.toolClass === toolClass,
      );
      const x = LEFT + index * group + at * CELL.width;
      const detail =
        isDetailed && cell ? `<title>${escaped(told(cell, name, column))}</title>` : "";
      return drawCell(cell?.verdict ?? "void", x, y, detail);
    }),
  );
}

/** Each look is drawn once and used by its letter: there are some thousand cells. */
function drawCell(verdict: Cell["verdict"], x: number, y: number, detail = ""): string {
  const use = `<use href="#${idOf(verdict)}" x="${x}" y="${y}"/>`;
  return detail === "" ? use : `<g>${detail}${use}</g>`;
}

const VERDICTS = Object.keys(SYMBOLS) as readonly Cell["verdict"][];
const idOf = (verdict: Cell["verdict"]): string => `c${VERDICTS.indexOf(verdict)}`;

function lookOf(verdict: Cell["verdict"]): string {
  const { symbol, fill, ink } = SYMBOLS[verdict];
  const size = `width="${CELL.width - 1}" height="${CELL.height - 1}"`;
  const box = `<rect ${size} rx="2" fill="${fill}" stroke="#d1d9e0" stroke-width="0.5"/>`;
  const middle = (CELL.width - 1) / 2;
  return `<g id="${idOf(verdict)}">${box}<text x="${middle}" y="13" class="symbol" style="fill:${ink}">${symbol}</text></g>`;
}

function told({ toolClass, score, why, words = [] }: Cell, name: string, column: Column): string {
  const head = `${name} · ${toolClass} · ${column.name}`;
  if (!score) return `${head}\n${why ?? ""}`;
  const counts = Object.entries(score).map(([key, value]) => `${key} ${value}`);
  return [head, counts.join(", "), ...words].join("\n");
}

function headOf({ name }: Column, { classes }: Matrix, x: number, width: number): string {
  const lines = linesOf(name);
  const middle = x + width / 2;
  const heads = lines.map((line, at) =>
    text(middle, TOP - 18 - (lines.length - 1 - at) * 13, line, "head"),
  );
  const letters = classes.map((toolClass, at) =>
    text(x + at * CELL.width + CELL.width / 2, TOP - 2, LETTERS[toolClass], "class"),
  );
  return [...heads, ...letters].join("");
}

/** A head has the width of five cells: longer names have two lines. */
function linesOf(name: string): readonly string[] {
  if (name.includes(", ")) return name.split(", ");
  const at = name.includes(" ") ? name.lastIndexOf(" ") : name.length > 12 ? name.indexOf("-") : -1;
  if (at < 0) return [name];
  return [name.slice(0, name[at] === "-" ? at + 1 : at), name.slice(at + 1)];
}

function ownFrame(columns: readonly Column[], group: number, bottom: number): string {
  const first = columns.findIndex(({ isHoldfire }) => isHoldfire);
  if (first < 0) return "";
  const count = columns.filter(({ isHoldfire }) => isHoldfire).length;
  const [x, y] = [LEFT + first * group - GAP / 2 - 1, TOP - 48];
  const size = `width="${count * group}" height="${bottom - y}"`;
  return `<rect x="${x}" y="${y}" ${size} rx="6" fill="#f3f8ff" stroke="#0969da"/>`;
}

const LEGEND_A_LINE = 5;
const CLASSES_A_LINE = 3;

function legendOf(matrix: Matrix, y: number, width: number): string[] {
  const looks = VERDICTS.map((verdict, index) => {
    const [x, at] = placeOf(index, LEGEND_A_LINE, width);
    return `${drawCell(verdict, x, y + at - 13)}${text(x + 20, y + at, SYMBOLS[verdict].says, "row")}`;
  });
  const classes = matrix.classes.map((one, index) => {
    const [x, at] = placeOf(index, CLASSES_A_LINE, width);
    return text(x, y + 50 + at, `${LETTERS[one]}  ${one} service: ${CLASS_SAYS[one]}`, "row");
  });
  return [...looks, ...classes, text(MARGIN, y + 98, footOf(matrix), "small")];
}

function placeOf(index: number, aLine: number, width: number): readonly [number, number] {
  const step = Math.floor((width - 2 * MARGIN) / aLine);
  return [MARGIN + (index % aLine) * step, Math.floor(index / aLine) * 22];
}

const footOf = ({ date, version, runtime, seeds, rows, cells }: Matrix): string =>
  `${rows.length - 1} faults, ${cells.length} cells, ${seedsText(seeds)}. holdfire ${version}, ${runtime}, ${date}. Repeat it: npm run battery`;

export const seedsText = (seeds: readonly number[]): string =>
  seeds.length === 1 ? `seed ${seeds[0]}` : `seeds ${seeds[0]} to ${seeds.at(-1)}`;

const titleOf = ({ rows, columns }: Matrix): string =>
  `${rows.length - 1} faults and ${columns.length} stacks: in which cells a tool call was done twice, lost, or told untruly`;

const text = (x: number, y: number, words: string, kind: string): string =>
  `<text x="${x}" y="${y}" class="${kind}">${escaped(words)}</text>`;

export const escaped = (words: string): string =>
  words
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
