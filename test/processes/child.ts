/**
 * A process of its own that runs a script of the tests, talks to us, and may be killed at any time.
 *
 * @module
 */

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** What processes tell each other. */
export interface Message {
  readonly tag: string;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

export interface Child {
  readonly pid: number;
  send(message: Message): void;
  /** The next message of this tag. Rejects if the process ends without it. */
  next<T extends Message>(tag: T["tag"]): Promise<T>;
  /** By `SIGKILL`: it has no say in it. */
  kill(): void;
  readonly ended: Promise<Ended>;
}

interface Waiting {
  readonly tag: string;
  readonly resolve: (message: never) => void;
  readonly reject: (error: Error) => void;
}

export function startChild(script: string, base: string): Child {
  const child = fork(fileURLToPath(new URL(script, base)), [], {
    execArgv: ["--disable-warning=ExperimentalWarning"],
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: ["ignore", "inherit", "pipe", "ipc"],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-10_000);
  });
  let unread: Message[] = [];
  let waiting: Waiting[] = [];
  let over: Ended | undefined;

  child.on("message", (message) => {
    const told = message as Message;
    const waiter = waiting.find(({ tag }) => tag === told.tag);
    if (!waiter) {
      unread.push(told);
      return;
    }
    waiting = waiting.filter((one) => one !== waiter);
    waiter.resolve(told as never);
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      over = { code, signal, stderr };
      for (const { tag, reject: fail } of waiting) fail(endedBefore(tag, over));
      waiting = [];
      resolve(over);
    });
  });

  return {
    pid: child.pid ?? 0,
    send(message) {
      if (child.connected) child.send(message);
    },
    next<T extends Message>(tag: T["tag"]) {
      const told = unread.find((message) => message.tag === tag);
      if (told) {
        unread = unread.filter((message) => message !== told);
        return Promise.resolve(told as T);
      }
      if (over) return Promise.reject(endedBefore(tag, over));
      return new Promise<T>((resolve, reject) => waiting.push({ tag, resolve, reject }));
    },
    kill() {
      child.kill("SIGKILL");
    },
    ended,
  };
}

const endedBefore = (tag: string, { code, signal, stderr }: Ended): Error =>
  new Error(`The process ended (${signal ?? code}) before it said "${tag}".\n${stderr}`);
