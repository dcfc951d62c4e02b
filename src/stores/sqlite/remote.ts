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
const workerFile = (): URL =>
  new URL(`./worker${extname(fileURLToPath(import.meta.url))}`, import.meta.url);

/** `onLost` is called when the worker has died; then it may be opened again. */
export function remoteBackend(options: EngineOptions, onLost: () => void): Backend {
  let worker: Worker | undefined;
  let asked = new Map<number, Asked>();
  let number = 0;

  function start(): Worker {
    const started = new Worker(workerFile(), { workerData: options });
    started.on("message", (reply: Reply) => {
      const question = asked.get(reply.number);
      asked.delete(reply.number);
      // An idle worker does not keep the process alive.
      if (asked.size === 0) started.unref();
      if (reply.ok) question?.resolve(reply.answer);
      else question?.reject(errorOf(reply.failure));
    });
    started.on("error", lose);
    started.on("exit", () => lose(new Error("The ledger's worker has ended.")));
    return started;
  }

  function lose(error: Error): void {
    if (!worker) return;
    worker = undefined;
    const left = asked;
    asked = new Map();
    for (const { reject } of left.values()) reject(error);
    onLost();
  }

  function send(method: Question["method"], args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!worker) return reject(new Error("The ledger's worker has ended."));
      number += 1;
      asked.set(number, { resolve, reject });
      worker.ref();
      worker.postMessage({ number, method, args } satisfies Question);
    });
  }

  return {
    isNear: false,

    async open() {
      worker ??= start();
      return (await send("open", [])) as Opening;
    },

    call: async (method, ...args) => (await send(method, args)) as Answer<typeof method>,

    async close() {
      if (!worker) return;
      await send("close", []);
      const ended = worker;
      worker = undefined;
      await ended.terminate();
    },
  };
}
