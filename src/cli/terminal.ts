/**
 * The world of a command: where it prints, what it may ask, and the time. Passed in, so that a command
 * is a function that a test can call. Below it: how text, tables, times and statuses are printed there.
 *
 * @module
 */

import type { Readable } from "node:stream";
import { stripVTControlCharacters, styleText } from "node:util";
import type { OperationView } from "../engine/admin/operations.ts";
import type { StateTag } from "../ledger/record.ts";

export { jsonText, visible } from "../key/escape-hidden.ts";

export interface Terminal {
  /** Prints a line of the answer, to stdout. */
  out(line: string): void;
  /** Prints a line about the work, to stderr: errors, progress, hints. */
  err(line: string): void;
  /** A line about long work, in place of the one before; only on a terminal. Empty: takes it away. */
  status(text: string): void;
  /** Writes to stdout as it is, without a new line: for screens that redraw. */
  write(text: string): void;
  /** Whether stdout is a terminal. */
  readonly isTTY: boolean;
  /** Whether stderr is one. */
  readonly isErrorTTY: boolean;
  /** How wide it is; 80 where it is not known. */
  readonly columns: number;
  /** What a person types. */
  readonly input: Readable;
  /** Whether a person could type. */
  readonly isInteractive: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Fires when the person wants to stop (Ctrl-C). Work that goes on for ever must listen to it. */
  readonly signal: AbortSignal;
}

export type Style = Parameters<typeof styleText>[0];

/** Colours only where a person sees them and did not ask to be spared. */
export function paint({ isTTY, env }: Terminal, style: Style, text: string): string {
  const wanted = isTTY && !env.NO_COLOR && env.TERM !== "dumb";
  return wanted ? styleText(style, text, { validateStream: false }) : text;
}

/** For lines that go to stderr: each of the two may be a terminal, or a file. */
export const onStderr = (terminal: Terminal): Terminal => ({
  ...terminal,
  isTTY: terminal.isErrorTTY,
});

const STYLES: Readonly<Record<StateTag, Style>> = {
  held: "yellow",
  claimed: "cyan",
  unknown: "red",
  committed: "green",
  not_applied: "gray",
  denied: "gray",
};

/** The status of an operation, in the colour that says whether a person has to act. */
export const paintStatus = (
  { status, reason }: Pick<OperationView, "status" | "reason">,
  terminal: Terminal,
): string => paint(terminal, STYLES[status], reason ? `${status} (${reason})` : status);

interface Column {
  readonly title: string;
  readonly align?: "left" | "right" | undefined;
}

/** Lines of a table with a head, without a border. */
export const tableLines = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): readonly string[] =>
  columnLines(
    [columns.map(({ title }) => title), ...rows],
    columns.map(({ align }) => align),
  );

/** Rows in columns as wide as their widest cell. Cells may be painted; make foreign text `visible` first. */
export function columnLines(
  rows: readonly (readonly string[])[],
  aligns: readonly Column["align"][] = [],
): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  }
  const padded = (cell: string, at: number) => {
    const space = " ".repeat((widths[at] ?? 0) - widthOf(cell));
    return aligns[at] === "right" ? space + cell : cell + space;
  };
  return rows.map((row) => row.map(padded).join("  ").trimEnd());
}

const widthOf = (cell: string): number => stripVTControlCharacters(cell).length;

/** To the millisecond, in UTC. A time that is none is shown as it is. */
export const showTime = (at: number): string =>
  Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at);

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** In one unit: `3 h`. */
export function showDuration(ms: number): string {
  const [unit, size] = UNITS.find(([, least]) => Math.abs(ms) >= least) ?? ["ms", 1];
  return `${Math.floor(Math.abs(ms) / size)} ${unit}`;
}
