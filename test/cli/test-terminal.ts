/**
 * A terminal for tests: what was printed is kept, and nothing is typed unless the test does it.
 *
 * @module
 */

import { PassThrough } from "node:stream";
import type { Terminal } from "../../src/cli/terminal.ts";

export interface TestTerminal extends Terminal {
  /** What was printed to stdout. */
  readonly printed: () => string;
  /** What was printed to stderr. */
  readonly complained: () => string;
  /** What was said of long work, each time. */
  readonly statuses: readonly string[];
  readonly input: PassThrough;
}

export function testTerminal(given: Partial<Terminal> = {}): TestTerminal {
  let out = "";
  let err = "";
  const statuses: string[] = [];
  return {
    isTTY: false,
    isErrorTTY: false,
    columns: 80,
    isInteractive: false,
    env: {},
    cwd: process.cwd(),
    now: () => 0,
    signal: new AbortController().signal,
    ...given,
    input: new PassThrough(),
    out(line) {
      out += `${line}\n`;
    },
    err(line) {
      err += `${line}\n`;
    },
    write(text) {
      out += text;
    },
    status(text) {
      statuses.push(text);
    },
    statuses,
    printed: () => out,
    complained: () => err,
  };
}
