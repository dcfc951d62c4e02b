/**
 * Group commit: all jobs of one turn of the event loop share one transaction, and so one sync to disk.
 *
 * While another process writes, the jobs are tried again from a timer. Nothing here, and nothing in
 * SQLite, blocks the event loop to wait for a lock.
 *
 * @module
 */

import type { Clock } from "../../lang/clock.ts";
import { isBusy } from "./driver.ts";

/** Reads and writes, at once and without waiting. */
export type Job<T = unknown> = () => T;

export interface WriteQueue {
  /** Resolves once the job is durable. Rejects if it failed; then it has changed nothing. */
  push<T>(job: Job<T>): Promise<T>;
  /** Whether a transaction begins at the end of this turn anyway. Not while one waits for a lock. */
  isDue(): boolean;
  /** Resolves once all that were pushed have ended. */
  drain(): Promise<void>;
}

export interface WriteQueueOptions {
  /** Runs the jobs in one transaction and returns their values. If it throws, nothing was changed. */
  readonly commit: (jobs: readonly Job[]) => readonly unknown[];
  readonly clock: Clock;
  readonly random: () => number;
  /** Calls back at the end of this turn of the event loop. */
  readonly soon: (run: () => void) => void;
}

interface Waiting {
  readonly job: Job;
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Of a batch that failed: each runs alone, so that only the one at fault fails. */
  isAlone: boolean;
}

/** A larger transaction would block the event loop for too long. */
const MAX_BATCH = 512;
/** Between two tries: about one commit of another process. It does not grow, so that all get a turn. */
const RETRY_MS = 1;
const RETRY_JITTER_MS = 2;
/** After a try that met a lock: the others poll, so a process that went on at once would always win. */
const GIVE_WAY_MS = 1;
/** A lock that is held for longer belongs to a process that hangs. */
const PATIENCE_MS = 30_000;

export function createWriteQueue(options: WriteQueueOptions): WriteQueue {
  const { commit, clock, random, soon } = options;
  /** A transaction or a timer is due for them. */
  let waiting: Waiting[] = [];
  let isContended = false;

  function flush(): void {
    const batch = waiting.slice(0, waiting[0]?.isAlone ? 1 : MAX_BATCH);
    const wasContended = isContended;
    isContended = false;
    try {
      const values = commit(batch.map(({ job }) => job));
      for (const [index, { resolve }] of batch.entries()) resolve(values[index]);
      waiting = waiting.slice(batch.length);
    } catch (error) {
      if (isBusy(error)) {
        waitForLock(error);
        return;
      }
      if (batch.length === 1) waiting.shift()?.reject(error);
      for (const one of batch) one.isAlone = true;
    }
    if (waiting.length === 0) return;
    if (wasContended) clock.after(GIVE_WAY_MS, flush);
    else soon(flush);
  }

  function waitForLock(error: unknown): void {
    const now = clock.monotonic();
    // The oldest wait in front.
    while (waiting[0] && now - waiting[0].since > PATIENCE_MS) waiting.shift()?.reject(error);
    isContended = waiting.length > 0;
    if (isContended) clock.after(RETRY_MS + random() * RETRY_JITTER_MS, flush);
  }

  function push<T>(job: Job<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const since = clock.monotonic();
      waiting.push({ job, since, resolve: resolve as Waiting["resolve"], reject, isAlone: false });
      if (waiting.length === 1) soon(flush);
    });
  }

  return {
    push,
    isDue: () => waiting.length > 0 && !isContended,
    // They end in order.
    drain: async () => (waiting.length > 0 ? push(() => {}).catch(() => {}) : undefined),
  };
}
