/**
 * Questions and answers between two processes: a number each, so that many can be under way.
 *
 * @module
 */

import type { ChildProcess } from "node:child_process";

type Question = { readonly n: number; readonly op: string; readonly args: readonly unknown[] };
type Reply = { readonly n: number; readonly value?: unknown; readonly error?: string };

// biome-ignore lint/suspicious/noExplicitAny: what crosses is JSON; the interface of each side types it.
type Handlers = Readonly<Record<string, (...args: any[]) => unknown>>;

/** Answers the questions of the parent, until it is gone. */
export function serveParent(handlers: Handlers): void {
  process.on("message", async ({ n, op, args }: Question) => {
    const run = async (): Promise<unknown> => handlers[op]?.(...args);
    const reply = await run().then(
      (value): Reply => ({ n, value }),
      (error: unknown): Reply => ({ n, error: String(error) }),
    );
    process.send?.(reply);
  });
  process.on("disconnect", () => process.exit(0));
}

/** The process has ended, and with it every answer it owed. */
export class ProcessEndedError extends Error {}

export interface Remote {
  ask<T>(op: string, ...args: readonly unknown[]): Promise<T>;
}

export function askChild(child: ChildProcess): Remote {
  const waiting = new Map<
    number,
    { readonly resolve: (value: never) => void; readonly reject: (error: Error) => void }
  >();
  let next = 0;
  let hasEnded = false;
  child.on("message", ({ n, value, error }: Reply) => {
    const one = waiting.get(n);
    waiting.delete(n);
    if (error === undefined) one?.resolve(value as never);
    else one?.reject(new Error(error));
  });
  child.on("exit", () => {
    hasEnded = true;
    for (const { reject } of waiting.values()) reject(new ProcessEndedError("It has ended."));
    waiting.clear();
  });
  // A message to a process that is being killed is as good as unsent.
  child.on("error", () => {});
  return {
    ask: (op, ...args) =>
      new Promise((resolve, reject) => {
        if (hasEnded || !child.connected) {
          reject(new ProcessEndedError("It has ended."));
          return;
        }
        next += 1;
        waiting.set(next, { resolve: resolve as (value: never) => void, reject });
        child.send({ n: next, op, args } satisfies Question, () => {});
      }),
  };
}
