/**
 * Makes the writes of processes fail, by strace, which answers them in the kernel's place.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { attached } from "../syscalls/strike.ts";
import type { End } from "./trouble.ts";

export interface FailingWrites {
  readonly pids: readonly number[];
  /** The system calls that fail. */
  readonly calls: string;
  readonly error: "ENOSPC" | "EROFS";
  /** Only those on this file. @default all */
  readonly file?: string | undefined;
}

/** Resolves once every such call fails, also those of processes that are started from now on. */
export async function failWrites({ pids, calls, error, file }: FailingWrites): Promise<End> {
  const what = ["-f", "-e", `trace=${calls}`, "-e", `inject=${calls}:error=${error}`];
  const where = file === undefined ? [] : ["-P", file];
  const whom = pids.flatMap((pid) => ["-p", String(pid)]);
  const tracer: ChildProcess = spawn("strace", [...what, ...where, "-o", "/dev/null", ...whom], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (tracer.stderr) await attached(tracer.stderr);
  return async () => {
    // It has ended already if all of them have.
    if (tracer.exitCode !== null || tracer.signalCode !== null) return;
    const gone = once(tracer, "exit");
    // It lets go of the processes, which go on.
    tracer.kill("SIGINT");
    await gone;
  };
}
