/**
 * The near end of a database in a worker thread: one message there and one back per question, and
 * per batch of writes.
 *
 * @module
 */

import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Answer, Backend } from "./backend.ts";
import type { EngineOptions, Opening } from "./engine.ts";
import { errorOf } from "./failure.ts";
import type { Question, Reply } from "./worker.ts";

interface Asked {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Beside this file, in the same language: the sources run as they are. */
const WORKER = new URL(`./worker${extname(fileURLToPath(import.meta.url))}`, import.meta.url);

// Without the process's own flags: some, such as `--input-type`, are not for a worker's file.
const startWorker = (options: EngineOptions): Worker =>
  new Worker(WORKER, { workerData: options, execArgv: [] });

/** `onLost` is called when the worker has died; then it may be opened again. */
export function remoteBackend(
  options: EngineOptions,
  onLost: () => void,
  start: (options: EngineOptions) => Worker = startWorker,
): Backend {
  let worker: Worker | undefined;
  let asked = new Map<number, Asked>();
  let number = 0;

  function started(): Worker {
    const fresh = start(options);
    fresh.on("message", (reply: Reply) => {
      const question = asked.get(reply.number);
      asked.delete(reply.number);
      // An idle worker does not keep the process alive.
      if (asked.size === 0) fresh.unref();
      if (reply.ok) question?.resolve(reply.answer);
      else question?.reject(errorOf(reply.failure));
    });
    fresh.on("error", (error: Error) => lose(fresh, error));
    fresh.on("exit", () => lose(fresh, new Error(ENDED)));
    return fresh;
  }

  function lose(ended: Worker, error: Error): void {
    if (worker !== ended) return;
    worker = undefined;
    const left = asked;
    asked = new Map();
    for (const { reject } of left.values()) reject(error);
    onLost();
  }

  function send(method: Question["method"], args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!worker) return reject(new Error(ENDED));
      number += 1;
      worker.postMessage({ number, method, args } satisfies Question);
      worker.ref();
      asked.set(number, { resolve, reject });
    });
  }

  return {
    async open() {
      worker ??= started();
      return (await send("open", [])) as Opening;
    },

    call: async (method, ...args) => (await send(method, args)) as Answer<typeof method>,

    async close() {
      // A worker that has died has nothing left to close.
      await send("close", []).catch(() => {});
      const ended = worker;
      worker = undefined;
      await ended?.terminate();
    },
  };
}

const ENDED = "The ledger's worker has ended.";
