/**
 * Everything the service still means to do, so that it can be done early, or never.
 *
 * @module
 */

import type { Clock } from "../../lang/clock.ts";

export interface Timers {
  after(ms: number, call: () => void): void;
  /** Like `after`, for a commit that may be called for earlier. */
  commitAfter(ms: number, commit: () => void): void;
  /** Does all commits that are still to come. Returns how many. */
  commitAll(): number;
  /** Does nothing of what is still to come, nor of what is asked for later. */
  stop(): void;
}

export function createTimers(after: Clock["after"]): Timers {
  const waiting = new Map<symbol, { readonly call: () => void; cancel: () => void }>();
  const commits = new Set<symbol>();
  let stopped = false;

  const take = (id: symbol): (() => void) | undefined => {
    const timer = waiting.get(id);
    timer?.cancel();
    waiting.delete(id);
    commits.delete(id);
    return timer?.call;
  };

  const start = (ms: number, call: () => void): symbol => {
    const id = Symbol("timer");
    if (stopped) return id;
    // Noted before it is started: an injected timer may call back at once.
    const timer = { call, cancel: () => {} };
    waiting.set(id, timer);
    timer.cancel = after(ms, () => take(id)?.());
    return id;
  };

  return {
    after(ms, call) {
      start(ms, call);
    },
    commitAfter(ms, commit) {
      commits.add(start(ms, commit));
    },
    commitAll() {
      const due = [...commits].flatMap((id) => take(id) ?? []);
      for (const commit of due) commit();
      return due.length;
    },
    stop() {
      stopped = true;
      for (const id of [...waiting.keys()]) take(id);
    },
  };
}
