/**
 * What the end of a program proves about a write: nothing, unless the program never started, ended
 * with 0, or its exit codes are declared.
 *
 * 126 and 127 prove nothing either: a shell says "command not found" about the last command it
 * reached, and the commands before it in the script have run.
 *
 * @module
 */

import type { Verdict } from "../reasons.ts";

/** How a program ended. */
export type ProgramEnd =
  | { readonly tag: "exited"; readonly code: number }
  /** Killed by a signal of a timeout, a person or the kernel; also if it then ended with an exit code. */
  | { readonly tag: "killed"; readonly signal: string }
  /** No process was started. */
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
