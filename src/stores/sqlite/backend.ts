/**
 * Where the database runs: on this thread, at once, or in a worker, behind messages.
 *
 * @module
 */

import { ClosedError } from "../../errors.ts";
import { type Engine, type EngineOptions, type Opening, openEngine } from "./engine.ts";

/** What may be asked of an engine from afar. */
export type Method = Exclude<keyof Engine, "close">;
export type Arguments<M extends Method> = Parameters<Engine[M]>;
export type Answer<M extends Method> = ReturnType<Engine[M]>;

export interface Backend {
  open(): Promise<Opening>;
  call<M extends Method>(method: M, ...args: Arguments<M>): Promise<Answer<M>>;
  close(): Promise<void>;
}

export function localBackend(options: EngineOptions): Backend {
  let engine: Engine | undefined;
  return {
    async open() {
      const opening = openEngine(options);
      if (opening.tag !== "opened") return opening;
      engine = opening.engine;
      return { tag: "opened", opened: opening.opened };
    },

    async call(method, ...args) {
      if (!engine) throw new ClosedError();
      return ask(engine, method, args);
    },

    async close() {
      engine?.close();
      engine = undefined;
    },
  };
}

/** Asks by name. The cast says what the compiler cannot: the arguments are those of the method. */
export function ask<M extends Method>(engine: Engine, method: M, args: Arguments<M>): Answer<M> {
  const run = engine[method] as (...args: Arguments<M>) => Answer<M>;
  return run(...args);
}
