/**
 * The world of a command: where it prints, what it may ask, and the time. Passed in, so that a command
 * is a function that a test can call.
 *
 * @module
 */

import type { Readable } from "node:stream";
import { styleText } from "node:util";

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
  /** How wide it is; 80 where nobody knows. */
  readonly columns: number;
  /** What a person types. */
  readonly input: Readable;
  /** Whether a person could type. */
  readonly isInteractive: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Fires when the person wants to stop (Ctrl-C). Work that goes on for ever must listen. */
  readonly signal: AbortSignal;
}

export type Style = Parameters<typeof styleText>[0];

/** Colours only where a person sees them and did not ask to be spared. */
export function paint({ isTTY, env }: Terminal, style: Style, text: string): string {
  const wanted = isTTY && !env.NO_COLOR && env.TERM !== "dumb";
  return wanted ? styleText(style, text, { validateStream: false }) : text;
}
