/**
 * An execution as its callers share it: its latest deadline, who waits for it, and how it is stopped.
 *
 * @module
 */

import type { Instant } from "../../lang/clock.ts";
import { createStop, type Stop } from "../../lang/stop.ts";
import type { Engine } from "../engine.ts";
import type { Execution, FireMode, Operation } from "../operation/operation.ts";
import type { Outcome } from "../operation/outcome.ts";

export interface SharedExecution extends Execution {
  deadlineAt: number;
  /** Milliseconds that people took to answer. Infinity while a person is asked. */
  personMs: number;
  /** How many callers wait for it. */
  callers: number;
  readonly waits: Waiting[];
  readonly stop: Stop;
}

/** One caller's wait: until the execution is done, or until this caller leaves. */
export interface Waiting {
  readonly operation: Operation;
  readonly deadlineAt: number;
  /** It did not start the execution. */
  readonly joined: boolean;
  readonly resolve: (outcome: Outcome<unknown>) => void;
  readonly reject: (error: unknown) => void;
  isOver: boolean;
  hasTimer: boolean;
  /** Ends what would make it leave: its timer, its signal. */
  letGo: (() => void) | undefined;
}

/** `at` is now. */
export function createExecution(
  operation: Operation,
  at: Instant,
  deadlineAt: number,
  fireMode: FireMode,
  { clock }: Engine,
): SharedExecution {
  const stop = createStop();
  const execution: SharedExecution = {
    operation,
    startedAt: at,
    stopped: stop.signal,
    stop,
    deadlineAt,
    personMs: 0,
    callers: 0,
    waits: [],
    sent: false,
    isAnswered: false,
    telling: false,
    fireMode,
    hasCaller: () => execution.callers > 0,
    remainingMs: (from) =>
      execution.deadlineAt + execution.personMs - (from?.monotonic ?? clock.monotonic()),
    untilStopped: (work) =>
      new Promise((resolve, reject) => {
        const onStop = () => resolve({ tag: "stopped" });
        if (stop.signal.aborted) return onStop();
        stop.signal.addEventListener("abort", onStop, { once: true });
        work()
          .then((value) => resolve({ tag: "done", value }), reject)
          .finally(() => stop.signal.removeEventListener("abort", onStop));
      }),
    async outsideDeadline(work) {
      const before = clock.monotonic();
      const already = execution.personMs;
      // What is asked may keep no process alive: this one lives until the deadline, as it does in every other wait.
      const letGo = clock.after(Math.max(execution.remainingMs(), 0), () => {});
      execution.personMs = Number.POSITIVE_INFINITY;
      try {
        return await execution.untilStopped(work);
      } finally {
        letGo();
        execution.personMs = already + clock.monotonic() - before;
      }
    },
    stopAsking() {
      if (execution.personMs === Number.POSITIVE_INFINITY) stop.abort();
    },
  };
  return execution;
}
