/**
 * The process group of a program: the program and what it started, ended together.
 *
 * A signal to the program alone does not reach the child of a shell wrapper, which would go on and take
 * effect after the call has ended. A process that leaves its group (a daemon) is out of reach, and so is
 * every child on Windows, which has no groups.
 *
 * @module
 */

import type { ChildProcess } from "node:child_process";

export interface ProcessGroup {
  /** Sends the signal to all of it. False if there was no process to get it. */
  end(signal: "SIGTERM" | "SIGKILL"): boolean;
  /** Whether any process of it is left. */
  isAlive(): boolean;
  /** It has ended: nothing is to be done about it when this process exits. */
  release(): void;
}

/** Whether programs are started as leaders of a group (the option `detached` of `spawn`). */
export const HAS_GROUPS: boolean = process.platform !== "win32";

/** Signals that end this process by default, without the event `exit`. */
const DEADLY = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const running = new Set<ProcessGroup>();

/** The group of a child that was started as its leader. It is killed when this process exits. */
export function groupOf(child: ChildProcess): ProcessGroup {
  const { pid } = child;
  const tell = (signal: NodeJS.Signals | 0): boolean => {
    if (pid === undefined) return false;
    if (!HAS_GROUPS) return child.kill(signal);
    try {
      return process.kill(-pid, signal);
    } catch {
      return false;
    }
  };
  const group: ProcessGroup = {
    end: tell,
    isAlive: () => tell(0),
    release() {
      if (running.delete(group) && running.size === 0) unwatch();
    },
  };
  if (running.size === 0) watch();
  running.add(group);
  return group;
}

/** It cannot be waited for any more, so there is no grace. */
function endAll(): void {
  for (const group of running) group.end("SIGKILL");
}

/**
 * A group of its own does not get the Ctrl-C of the terminal. Where others listen, they decide, and `exit` follows;
 * meanwhile ours is off, as some of them count the listeners to see whether they are alone.
 */
function onDeadly(signal: NodeJS.Signals): void {
  process.off(signal, onDeadly);
  if (process.listenerCount(signal) === 0) {
    endAll();
    process.kill(process.pid, signal);
    return;
  }
  setImmediate(() => {
    if (running.size > 0) listen(signal);
  });
}

/** First in the row, see above. */
function listen(signal: NodeJS.Signals): void {
  process.off(signal, onDeadly).prependListener(signal, onDeadly);
}

function watch(): void {
  process.on("exit", endAll);
  for (const signal of DEADLY) listen(signal);
}

function unwatch(): void {
  process.off("exit", endAll);
  for (const signal of DEADLY) process.off(signal, onDeadly);
}
