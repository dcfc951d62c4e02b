/**
 * The processes of stacks: one for all quiet cells of a stack, and others for cells that kill theirs.
 *
 * @module
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Process } from "../fault.ts";
import type { StackId } from "../stacks.ts";
import { askChild, type Remote } from "./remote.ts";

export interface Worker extends Process, Remote {
  /** How often it was killed or has died: 0 or 1. */
  readonly hasDied: () => boolean;
  end(): Promise<void>;
}

const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/compile", import.meta.url));

/** What this run has started, so that nothing outlives it. */
const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

export function startProcess(file: string, args: readonly string[], cwd: string): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = fork(path, args, {
    cwd,
    // Most of the life of a process that is killed is the compiling of the same sources.
    env: { NODE_COMPILE_CACHE: CACHE, ...process.env },
    stdio: ["ignore", "ignore", process.env.BATTERY_DEBUG ? "inherit" : "ignore", "ipc"],
  });
  alive.add(child);
  child.once("exit", () => alive.delete(child));
  return child;
}

export function startWorker(id: StackId, cwd: string): Worker {
  const child = startProcess("worker-process.ts", [id], cwd);
  const exited = once(child, "exit");
  const hasDied = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const stop = async (): Promise<void> => {
    if (!hasDied()) child.kill("SIGKILL");
    await exited;
  };
  return {
    ...askChild(child),
    hasDied,
    kill: stop,
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    end: stop,
  };
}

export interface Pool {
  shared(id: StackId): Worker;
  end(): Promise<void>;
}

export function createPool(cwd: string): Pool {
  const workers = new Map<StackId, Worker>();
  return {
    shared(id) {
      const known = workers.get(id);
      if (known && !known.hasDied()) return known;
      const worker = startWorker(id, cwd);
      workers.set(id, worker);
      return worker;
    },
    async end() {
      await Promise.all([...workers.values()].map((worker) => worker.end()));
    },
  };
}
