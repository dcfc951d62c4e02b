/**
 * The matrix on a terminal, and progress while it is made.
 *
 * @module
 */

import { styleText } from "node:util";
import { report } from "../../progress.ts";
import type { Progress } from "../run/all.ts";
import type { Gate } from "./gate.ts";
import type { Cell, Matrix } from "./matrix.ts";
import { LETTERS, SYMBOLS } from "./symbols.ts";
import { totalsOf } from "./totals.ts";

const isTerminal = process.stdout.isTTY === true;
const paint = (style: "red" | "green" | "yellow" | "dim" | "bold", text: string): string =>
  isTerminal ? styleText(style, text) : text;

const EVERY = 50;

/** On a terminal one line that changes; elsewhere one for every fifty cells. */
export function showProgress({ done, all, leftMs, last }: Progress): void {
  const left = leftMs === undefined ? "" : `, about ${timeOf(leftMs)} left`;
  const where = `${last.fault}, ${last.toolClass}, ${last.stack}`;
  report(`${done} of ${all} cells${left}  ${where}`, done % EVERY === 0 || done === all);
  if (done === all && process.stderr.isTTY) process.stderr.write("\n");
}

function timeOf(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}

const NAME = 44;

export function printReport(matrix: Matrix, { isOk, failures }: Gate): void {
  const { columns, classes, rows, cells } = matrix;
  const width = Math.max(classes.length, ...columns.map(({ id }) => id.length)) + 2;
  const heads = columns.map(({ id }) => id.padEnd(width)).join("");
  const letters = classes.map((one) => LETTERS[one]).join("");
  console.log(paint("bold", `${"".padEnd(NAME)}${heads}`));
  console.log(
    paint("dim", `${"".padEnd(NAME)}${columns.map(() => letters.padEnd(width)).join("")}`),
  );
  for (const { id, name } of rows) {
    const texts = columns.map((column) => {
      const own = classes.map((one) =>
        show(cells.find((c) => c.fault === id && c.stack === column.id && c.toolClass === one)),
      );
      return own.join("") + " ".repeat(width - classes.length);
    });
    console.log(`${name.padEnd(NAME)}${texts.join("")}`);
  }
  console.log(
    `\n${Object.values(SYMBOLS)
      .map(({ symbol, says }) => `${symbol} ${says}`)
      .join("   ")}`,
  );
  console.log("");
  for (const { column, text } of totalsOf(matrix)) console.log(`${column.padEnd(20)}${text}`);
  for (const failure of failures) console.log(paint("red", failure));
  const word = isOk ? paint("green", "holdfire keeps its promise") : paint("red", "holdfire fails");
  console.log(`\n${cells.length} cells in ${matrix.seconds} s: ${word}`);
}

function show(cell: Cell | undefined): string {
  const { symbol, style } = SYMBOLS[cell?.verdict ?? "void"];
  return paint(style, symbol);
}
