/**
 * The database in a worker thread. Answers one message at a time, in order.
 *
 * @module
 */

import { parentPort, workerData } from "node:worker_threads";
import { type Arguments, ask, type Method } from "./backend.ts";
import { type Engine, type EngineOptions, openEngine } from "./engine.ts";
import { failureOf } from "./failure.ts";
import type { Failure } from "./job.ts";

export interface Question {
  readonly number: number;
  readonly method: Method | "open" | "close";
  readonly args: readonly unknown[];
}

export type Reply = { readonly number: number } & (
  | { readonly ok: true; readonly answer: unknown }
  | { readonly ok: false; readonly failure: Failure }
);

let engine: Engine | undefined;

function answer({ method, args }: Question): unknown {
  if (method === "open") {
    const opening = openEngine(workerData as EngineOptions);
    if (opening.tag !== "opened") return opening;
    engine = opening.engine;
    return { tag: "opened", opened: opening.opened };
  }
  if (method === "close") return engine?.close();
  if (!engine) throw new Error("The database is not open.");
  return ask(engine, method, args as Arguments<Method>);
}

parentPort?.on("message", (question: Question) => {
  const { number } = question;
  const reply = (): Reply => {
    try {
      return { number, ok: true, answer: answer(question) };
    } catch (error) {
      return { number, ok: false, failure: failureOf(error) };
    }
  };
  parentPort?.postMessage(reply());
});
