/**
 * Prints the storm: one line a client and failure, one column a way to call it.
 *
 * @module
 */

import { styleText } from "node:util";
import { COLUMNS, type Counted } from "./cells.ts";

const isTerminal = process.stdout.isTTY === true;
const paint = (style: "red" | "green" | "dim" | "bold", text: string): string =>
  isTerminal ? styleText(style, text) : text;

const WIDTH = 16;
const NAME = 28;

export function printTable(counted: readonly Counted[]): void {
  const columns = Object.values(COLUMNS).filter((name) =>
    counted.some(({ column }) => column === name),
  );
  const heads = ["client".padEnd(NAME), "fails by".padEnd(10), ...columns.map(right)];
  console.log(paint("bold", heads.join("")));
  let last: string | undefined;
  for (const { row, failure } of firsts(counted)) {
    const texts = columns.map((name) =>
      show(counted.find((it) => it.row === row && it.failure === failure && it.column === name)),
    );
    console.log(`${(row === last ? "" : row).padEnd(NAME)}${failure.padEnd(10)}${texts.join("")}`);
    last = row;
  }
}

/** The first cell of each line. */
const firsts = (counted: readonly Counted[]): readonly Counted[] =>
  counted.filter(
    ({ row, failure }, index) =>
      counted.findIndex((it) => it.row === row && it.failure === failure) === index,
  );

export function printHidden(counted: readonly Counted[]): void {
  console.log(
    `\n${paint("bold", `${"not switched off".padEnd(NAME + 10)}${right("arrived")}${right("reported")}`)}`,
  );
  for (const { row, arrived, reported, ok } of counted) {
    const told = paint(ok ? "green" : "red", right(String(reported)));
    console.log(`${row.padEnd(NAME + 10)}${right(String(arrived))}${told}`);
  }
}

export function printVerdict(counted: readonly Counted[]): void {
  const wrong = counted.filter(({ ok }) => !ok);
  for (const { row, failure, column, arrived, expected } of wrong) {
    const line = `${row}, ${failure}, ${column}: ${arrived} arrived, ${expected ?? "all"} expected`;
    console.log(paint("red", line));
  }
  const judged = counted.filter(({ expected, column }) => expected ?? column === "arrived").length;
  const text = wrong.length === 0 ? "every count as decided" : `${wrong.length} wrong`;
  console.log(`\n${judged} cells judged, ${paint(wrong.length === 0 ? "green" : "red", text)}`);
}

function show(cell: Counted | undefined): string {
  if (!cell) return paint("dim", right("-"));
  const { arrived, goesOn, expected, ok } = cell;
  const text = right(goesOn ? `≥ ${arrived}` : String(arrived));
  return expected === undefined ? text : paint(ok ? "green" : "red", text);
}

const right = (text: string): string => text.padStart(WIDTH);
