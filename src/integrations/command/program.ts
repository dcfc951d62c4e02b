/**
 * Runs a program once, without a shell, and tells how it ended. Output is bounded; an abort ends it and what
 * it started.
 *
 * @module
 */

import { spawn } from "node:child_process";
import type { ProgramEnd } from "../../classify/exit.ts";
import { peek } from "../../lang/peek.ts";
import { asText, collect, NOTHING_PRINTED, type Printed } from "./output.ts";
import { groupOf, HAS_GROUPS } from "./process-group.ts";

export interface Program {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly maxOutputBytes: number;
  /** How long a program that is to stop may take before it is killed for good, in milliseconds. */
  readonly killAfterMs: number;
}

export interface ProgramResult {
  readonly end: ProgramEnd;
  readonly stdout: Printed;
  /** The first part of what it wrote to stderr. */
  readonly stderr: string;
}

const MAX_STDERR_BYTES = 4_096;
/** A child of the program may hold its output open long after it has ended. */
const OUTPUT_AFTER_EXIT_MS = 1_000;
/** How often a stopped program's group is checked, once the program itself has ended. */
const CHECK_GROUP_MS = 20;

export function runProgram(program: Program, signal: AbortSignal): Promise<ProgramResult> {
  const { file, argv, env, cwd, maxOutputBytes, killAfterMs } = program;
  return new Promise((resolve) => {
    const notStarted = (error: unknown) => {
      const code = peek(error, "code");
      const end = {
        tag: "not_started",
        code: typeof code === "string" ? code : undefined,
      } as const;
      resolve({ end, stdout: NOTHING_PRINTED, stderr: "" });
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
    const group = groupOf(child);
    const timers: NodeJS.Timeout[] = [];
    const later = (fn: () => void, ms: number) => void timers.push(setTimeout(fn, ms));
    let hasExited = false;
    let stopped = false;
    let killed = false;
    const stopGroup = () => {
      stopped = group.end("SIGTERM");
      later(() => {
        group.end("SIGKILL");
        killed = true;
      }, killAfterMs);
    };
    // What ended by itself has said how.
    const stop = () => {
      if (!hasExited) stopGroup();
    };
    const settle = (end: ProgramEnd) => {
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      group.release();
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ end, stdout: stdout(), stderr: asText(stderr()) });
    };
    signal.addEventListener("abort", stop, { once: true });
    child.on("error", (error) => {
      // With a process id there is a process, whatever else went wrong.
      if (child.pid !== undefined) return;
      signal.removeEventListener("abort", stop);
      group.release();
      notStarted(error);
    });
    const ended = (code: number | null, by: string | null): void => {
      // Of a program that was stopped, a child may be left that has not ended yet.
      if (stopped && !killed && group.isAlive()) {
        later(() => ended(code, by), CHECK_GROUP_MS);
        return;
      }
      // One that ends politely when it is told to stop has not said that it was done.
      settle(
        code === null || stopped
          ? { tag: "killed", signal: by ?? (stopped ? "SIGTERM" : "unknown") }
          : { tag: "exited", code },
      );
    };
    child.on("exit", (code, by) => {
      hasExited = true;
      // Killed from outside, it has not ended its children.
      if (code === null && !stopped) stopGroup();
      later(() => ended(code, by), OUTPUT_AFTER_EXIT_MS);
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
    detached: HAS_GROUPS,
    windowsHide: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
