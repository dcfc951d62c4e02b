/**
 * Which fault a request gets, and what it does: what reaches the service, when, and what the client gets.
 *
 * @module
 */

import type { Execution } from "./execute.ts";
import type { Fault, ReadFault } from "./faults.ts";
import {
  type Answer,
  answer,
  errorAnswer,
  faultAnswer,
  RESET,
  type Reply,
  SILENCE,
  send,
} from "./reply.ts";
import type { Timers } from "./timers.ts";

/** The planned faults in order, then the standing one. */
export interface FaultPlan<F> {
  add(faults: readonly F[]): void;
  /** The fault of every request for which none is planned; `undefined` takes it back. */
  always(fault: F | undefined): void;
  next(): F | undefined;
}

export function createFaultPlan<F extends object>(check: (fault: F) => void): FaultPlan<F> {
  const queue: F[] = [];
  let standing: F | undefined;

  // A copy: the log shows the fault that was applied, whatever its planner does to it later.
  const take = (fault: F): F => {
    check(fault);
    return Object.freeze({ ...fault });
  };

  return {
    add(faults) {
      queue.push(...faults.map(take));
    },
    always(fault) {
      standing = fault && take(fault);
    },
    next: () => queue.shift() ?? standing,
  };
}

/** The request on its way to the service. */
export interface Delivery {
  /** It reaches the service. */
  begin(): Execution;
  /** It arrives once more, and reaches the service. */
  beginAgain(): Execution;
}

export function applyFault(fault: Fault | undefined, delivery: Delivery, timers: Timers): Reply {
  const commit = () => delivery.begin().commit();

  switch (fault?.tag) {
    case undefined:
      return send(commit());
    case "commit_then_reset":
      commit();
      return RESET;
    case "reset_before":
      return RESET;
    case "hang_up":
      if (fault.commit) commit();
      return { tag: "hang_up" };
    case "black_hole":
      if (fault.commit) commit();
      return SILENCE;
    case "slow":
      return answerSlowly(fault, delivery.begin(), timers);
    case "status":
      if (fault.commit) commit();
      return send(faultAnswer(fault));
    case "truncated_body":
      return { tag: "truncate", answer: commit(), framing: fault.framing };
    case "late_commit":
      timers.commitAfter(fault.afterMs, commit);
      return RESET;
    case "duplicate_delivery": {
      const first = commit();
      delivery.beginAgain().commit();
      return send(first);
    }
    case "redirect":
      return send(answer(fault.status, {}, { location: fault.to }));
    case "trickle":
      return { tag: "trickle", answer: commit(), everyMs: fault.everyMs };
    case "stored_failure":
      return send(delivery.begin().fail(errorAnswer(fault.status, "api_error")));
  }
}

/** The service has the request from the start, so its key is in use until the answer. */
function answerSlowly(
  { ms, commit }: Extract<Fault, { tag: "slow" }>,
  execution: Execution,
  timers: Timers,
): Reply {
  const later = { tag: "later", ms, answer: execution.commit } as const;
  if (commit === "on_time") return { ...later, gone: execution.abandon };
  // By timers of their own: the service goes on when the client has left.
  if (commit === "before") {
    execution.perform();
    timers.after(ms, execution.commit);
  } else {
    timers.commitAfter(ms, execution.commit);
  }
  return later;
}

export function applyReadFault(
  fault: ReadFault | undefined,
  read: (asOf?: number) => Answer,
  now: () => number,
): Reply {
  switch (fault?.tag) {
    case undefined:
      return send(read());
    case "status":
      return send(faultAnswer(fault));
    case "hang":
      return SILENCE;
    case "lag":
      return send(read(now() - fault.ms));
    case "reset":
      return RESET;
  }
}
