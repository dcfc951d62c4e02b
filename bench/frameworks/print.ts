/**
 * Prints the table: one line a framework, in each cell the effects without holdfire and with it.
 *
 * @module
 */

import { styleText } from "node:util";
import { COLUMNS } from "./columns.ts";

export type Counted = {
  readonly framework: string;
  readonly column: string;
  readonly expected: number;
} & (
  | { readonly without: number; readonly with: number; readonly ok: boolean }
  | { readonly none: string; readonly ok: true }
  | { readonly error: string; readonly ok: false }
);

const isTerminal = process.stdout.isTTY === true;
const paint = (style: "red" | "green" | "dim" | "bold", text: string): string =>
  isTerminal ? styleText(style, text) : text;

const NAME = 22;
const WIDTH = 15;
const right = (text: string): string => text.padStart(WIDTH);

export function printTable(counted: readonly Counted[]): void {
  console.log("Effects of one request of a person: without holdfire → with it.\n");
  const heads = COLUMNS.map(({ name }) => right(name));
  console.log(paint("bold", ["framework".padEnd(NAME), ...heads].join("")));
  for (const name of new Set(counted.map(({ framework }) => framework))) {
    const cells = COLUMNS.map(({ name: column }) =>
      show(counted.find((cell) => cell.framework === name && cell.column === column)),
    );
    console.log([name.padEnd(NAME), ...cells].join(""));
  }
}

function show(cell: Counted | undefined): string {
  if (!cell || "none" in cell) return paint("dim", right("-"));
  if ("error" in cell) return paint("red", right("failed"));
  return paint(cell.ok ? "green" : "red", right(`${cell.without} → ${cell.with}`));
}

/** What the columns stand for. */
export function printLegend(): void {
  console.log("");
  for (const { name, means } of COLUMNS) console.log(`${name.padEnd(NAME)}${means}`);
}

/** Why there is nothing to count: each reason once, with those it holds for. */
export function printReasons(counted: readonly Counted[]): void {
  const reasons = new Map<string, Set<string>>();
  for (const cell of counted) {
    if (!("none" in cell)) continue;
    const line = `${cell.framework}: ${cell.none}`;
    reasons.set(line, (reasons.get(line) ?? new Set()).add(cell.column));
  }
  console.log("");
  for (const [line, columns] of reasons) console.log(`- ${line} (${[...columns].join(", ")})`);
}

export function printVerdict(counted: readonly Counted[]): void {
  const wrong = counted.filter(({ ok }) => !ok);
  for (const cell of wrong) {
    const what =
      "error" in cell ? cell.error : `${"with" in cell ? cell.with : "?"} effects with holdfire`;
    const line = `${cell.framework}, ${cell.column}: ${what}, ${cell.expected} expected`;
    console.log(paint("red", line));
  }
  const judged = counted.filter((cell) => !("none" in cell)).length;
  const text = wrong.length === 0 ? "every one as it must be" : `${wrong.length} wrong`;
  console.log(`\n${judged} cells judged, ${paint(wrong.length === 0 ? "green" : "red", text)}`);
}
