/**
 * Runs the user's program with a module loaded before it, in it and in every Node process that it starts.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { UsageError } from "./command.ts";
import { type Terminal, visible } from "./terminal.ts";

export interface Program {
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Terminal["env"];
  /** The module that is loaded first. */
  readonly preload: URL;
  /** Where its stdout and stderr go. @default where ours do */
  readonly output?: readonly [Output, Output] | undefined;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

type Output = "inherit" | "ignore" | NodeJS.WriteStream;

/** Between the signal that asks and the one that does not. */
const GRACE_MS = 2_000;

/** Its exit code, as a shell tells it. */
export function runProgram(program: Program): Promise<number> {
  const { command: words, cwd, env, preload, output = ["inherit", "inherit"], signal } = program;
  const [command = "", ...args] = words;
  // As an environment variable it also reaches what the program starts: npm scripts, workers.
  const options = [env.NODE_OPTIONS, `--import=${preload.href}`].filter(Boolean).join(" ");
  const child = spawn(command, args, {
    cwd,
    env: { ...env, NODE_OPTIONS: options },
    stdio: ["inherit", ...output],
  });
  let killer: NodeJS.Timeout | undefined;
  const stop = () => {
    child.kill("SIGTERM");
    killer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
  };
  process.once("SIGTERM", stop);
  signal?.addEventListener("abort", stop, { once: true });
  return new Promise<number>((resolve, reject) => {
    child.once("error", (error) =>
      reject(new UsageError(`"${visible(command)}" cannot be run: ${error.message}`)),
    );
    child.once("close", (code, by) => resolve(code ?? 128 + (by ? constants.signals[by] : 0)));
  }).finally(() => {
    clearTimeout(killer);
    process.removeListener("SIGTERM", stop);
    signal?.removeEventListener("abort", stop);
  });
}
