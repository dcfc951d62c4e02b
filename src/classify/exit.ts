/**
 * What the end of a program proves of a write: nothing, unless the program was never started, ended
 * with 0, or its codes were declared.
 *
 * 126 and 127 are no exception. "Command not found" is what a shell says of the command it came to
 * last, and what stands before it in the script has run.
 *
 * @module
 */

import type { Verdict } from "../ledger/record.ts";

/** How a program ended. */
export type ProgramEnd =
  | { readonly tag: "exited"; readonly code: number }
  /** By a signal: a timeout's, a person's, the kernel's; also if it then ended with a code of its own. */
  | { readonly tag: "killed"; readonly signal: string }
  /** There never was a process. */
  | { readonly tag: "not_started"; readonly code: string | undefined };

/** What a program's exit codes mean, by number, e.g. `{ 3: "rejected", 75: "refused" }`. */
export type ExitCodes = Readonly<Record<number, Verdict>>;

export function verdictOfExit(end: ProgramEnd, declared: ExitCodes = {}): Verdict {
  switch (end.tag) {
    case "not_started":
      return "not_sent";
    case "killed":
      return "unknown";
    case "exited": {
      const said = Object.hasOwn(declared, end.code) ? declared[end.code] : undefined;
      return said ?? (end.code === 0 ? "committed" : "unknown");
    }
  }
}
