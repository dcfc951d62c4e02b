/**
 * Runs a program once, without a shell, and tells how it ended. Output is bounded; an abort kills it.
 *
 * @module
 */

import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { ProgramEnd } from "../../classify/exit.ts";
import { peek } from "../../lang/peek.ts";

export interface Program {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly maxOutputBytes: number;
  /** How long a program that is to stop may take before it is killed for good, in milliseconds. */
  readonly killAfterMs: number;
}

export interface Ended {
  readonly end: ProgramEnd;
  readonly stdout: string;
  /** The program said more than was kept. */
  readonly truncated: boolean;
  /** The first part of what it wrote to stderr. */
  readonly stderr: string;
}

const MAX_STDERR_BYTES = 4_096;
/** A child of the program may hold its output open long after it has ended. */
const OUTPUT_AFTER_EXIT_MS = 1_000;

export function runProgram(program: Program, signal: AbortSignal): Promise<Ended> {
  const { file, argv, env, cwd, maxOutputBytes, killAfterMs } = program;
  return new Promise((resolve) => {
    const notStarted = (error: unknown) => {
      const code = peek(error, "code");
      const end = {
        tag: "not_started",
        code: typeof code === "string" ? code : undefined,
      } as const;
      resolve({ end, stdout: "", truncated: false, stderr: "" });
    };
    if (signal.aborted) return notStarted(undefined);
    let child: ReturnType<typeof start>;
    try {
      child = start(file, argv, env, cwd);
    } catch (error) {
      return notStarted(error);
    }
    const stdout = collect(child.stdout, maxOutputBytes);
    const stderr = collect(child.stderr, MAX_STDERR_BYTES);
    const timers: NodeJS.Timeout[] = [];
    let stopped = false;
    const stop = () => {
      stopped = child.kill("SIGTERM");
      timers.push(setTimeout(() => child.kill("SIGKILL"), killAfterMs));
    };
    const settle = (end: ProgramEnd) => {
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      child.stdout.destroy();
      child.stderr.destroy();
      const { text, truncated } = stdout();
      resolve({ end, stdout: text, truncated, stderr: stderr().text });
    };
    signal.addEventListener("abort", stop, { once: true });
    child.on("error", (error) => {
      // With a process id there is a process, whatever else went wrong.
      if (child.pid !== undefined) return;
      signal.removeEventListener("abort", stop);
      notStarted(error);
    });
    // One that ends politely when it is told to stop has not said that it was done.
    const ended = (code: number | null, by: string | null) =>
      settle(
        code === null || stopped
          ? { tag: "killed", signal: by ?? (stopped ? "SIGTERM" : "unknown") }
          : { tag: "exited", code },
      );
    child.on("exit", (code, by) => {
      timers.push(setTimeout(() => ended(code, by), OUTPUT_AFTER_EXIT_MS));
    });
    child.on("close", (code, by) => {
      if (child.pid !== undefined) ended(code, by);
    });
  });
}

const start = (
  file: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string | undefined,
) =>
  spawn(file, argv, {
    cwd,
    env,
    shell: false,
    windowsHide: true,
    stdio: ["ignore", "pipe", "pipe"],
  });

/** Goes on reading past the limit, so that the program does not hang, and forgets what it reads. */
function collect(stream: Readable, limit: number) {
  const chunks: Buffer[] = [];
  let size = 0;
  let truncated = false;
  stream.on("data", (chunk: Buffer) => {
    const room = limit - size;
    if (chunk.length > room) truncated = true;
    if (room <= 0) return;
    const kept = chunk.subarray(0, room);
    chunks.push(kept);
    size += kept.length;
  });
  // A broken pipe is the end of what was said.
  stream.on("error", () => {});
  return () => ({ text: Buffer.concat(chunks).toString("utf8"), truncated });
}
