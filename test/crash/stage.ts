/**
 * The stage of a process that is to die: every operation stops where it was told to, and when the
 * last one has, the process is killed. What was reached is written down first.
 *
 * @module
 */

import { appendFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { Death } from "./trial.ts";

export interface Stage {
  /** Notes that an operation has come to its spot. Dies if it was the last. */
  reached(name: string): void;
  /** The same, with a write on its way to the store. */
  issued(name: string): void;
  /** Adds a line for whoever reads what was reached. */
  note(line: string): void;
}

export interface StageOptions {
  /** The file in which to write down what was reached. */
  readonly notes: string;
  /** Those who must reach their spot. */
  readonly names: readonly string[];
  readonly death: Death;
}

/** Long enough for bytes to leave and a reply to come, which nobody reads any more. */
const STARE_MS = 3;

export async function createStage({ notes, names, death }: StageOptions): Promise<Stage> {
  const missing = new Set(names);
  const knife = death.tag === "thread" ? await sharpen(death.afterMs) : undefined;
  // Synchronous: nothing that is still in memory outlives what comes next.
  const note = (line: string): void => appendFileSync(notes, `${line}\n`);

  const askStore = (name: string, die: () => void): void => {
    if (!missing.delete(name)) return;
    note(`reached ${name}`);
    if (missing.size === 0) die();
  };

  return {
    note,
    reached: (name) => askStore(name, dieNow),
    issued: (name) =>
      askStore(name, () => {
        if (knife) knife();
        else if (death.tag === "turns") dieAfter(death.turns);
        else dieNow();
      }),
  };
}

/** Never settles: the operation stays where it is until the process is gone. */
export const standStill = <T>(): Promise<T> => new Promise<T>(() => {});

/** A signal to oneself arrives before the call returns. */
function dieNow(): void {
  process.kill(process.pid, "SIGKILL");
}

function dieAfter(turns: number): void {
  if (turns > 0) {
    setImmediate(() => dieAfter(turns - 1));
    return;
  }
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STARE_MS);
  dieNow();
}

/** A thread that kills the process while the main one is at work. */
async function sharpen(afterMs: number): Promise<() => void> {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL("knife.ts", import.meta.url), {
    workerData: { flag, afterMs },
  });
  await new Promise((resolve) => worker.once("message", resolve));
  return () => {
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  };
}
