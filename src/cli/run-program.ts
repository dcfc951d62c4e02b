/**
 * Runs the user's program with a module loaded before it, in it and in every Node process that it starts, and reads the
 * logs that the module has written there.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "./command.ts";
import { namesIn, readStart } from "./doctor/read-bounded.ts";
import { type Terminal, visible } from "./terminal.ts";

interface Program {
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

const MOST_BYTES = 64 * 1_048_576;
const MOST_PROCESSES = 1_000;

/** `programIn` is given the folder in which each process writes its log, a `.jsonl` file. */
export async function runWatched(
  programIn: (folder: string) => Program,
): Promise<{ readonly exitCode: number; readonly logs: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-watched-"));
  try {
    const exitCode = await runProgram(programIn(folder));
    const names = namesIn(folder).filter((name) => name.endsWith(".jsonl"));
    const logs = names
      .slice(0, MOST_PROCESSES)
      .map((name) => readStart(join(folder, name), MOST_BYTES) ?? "");
    return { exitCode, logs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Its exit code, as a shell tells it. */
function runProgram(program: Program): Promise<number> {
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
