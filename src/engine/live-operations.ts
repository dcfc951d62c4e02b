/**
 * What this process does now, by operation: the execution that its callers share, and its attempts that have not ended,
 * some of which outlive their execution. What reconcile runs is no execution that callers share.
 *
 * @module
 */

import type { Execution } from "./operation/operation.ts";

/** Operations are named by id; the tenant is part of what an id was made from. */
export interface LiveOperations {
  /** The execution that callers of this process share. */
  execution(id: string): Execution | undefined;
  begin(id: string, execution: Execution): void;
  end(id: string): void;
  /** The numbers of its attempts that have not ended. */
  attempts(id: string): readonly number[];
  beginAttempt(id: string, n: number): void;
  endAttempt(id: string, n: number): void;
  executions(): readonly Execution[];
}

interface Live {
  execution: Execution | undefined;
  attempts: readonly number[];
}

const NONE: readonly number[] = [];

const newLive = (): Live => ({ execution: undefined, attempts: NONE });

export function createLiveOperations(): LiveOperations {
  // Never empty: the platform gives back the table of a map that becomes empty, and one caller after another would have it
  // made anew for each call.
  const all = new Map<string, Live>([["", newLive()]]);

  function liveOf(id: string): Live {
    const known = all.get(id);
    if (known) return known;
    const live = newLive();
    all.set(id, live);
    return live;
  }

  function forgetIdle(id: string, { execution, attempts }: Live): void {
    if (!execution && attempts.length === 0) all.delete(id);
  }

  return {
    execution: (id) => all.get(id)?.execution,
    begin(id, execution) {
      liveOf(id).execution = execution;
    },
    end(id) {
      const live = liveOf(id);
      live.execution = undefined;
      forgetIdle(id, live);
    },
    attempts: (id) => all.get(id)?.attempts ?? NONE,
    beginAttempt(id, n) {
      const live = liveOf(id);
      live.attempts = live.attempts === NONE ? [n] : [...live.attempts, n];
    },
    endAttempt(id, n) {
      const live = liveOf(id);
      live.attempts = live.attempts.filter((other) => other !== n);
      forgetIdle(id, live);
    },
    executions: () => [...all.values()].flatMap(({ execution }) => execution ?? []),
  };
}
