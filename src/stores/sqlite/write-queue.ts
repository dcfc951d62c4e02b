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
  /** Resolves once the queue is empty. */
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
  let waiting: Waiting[] = [];
  /** The jobs of a batch that failed: each runs alone, so that only the one at fault fails. */
  let alone = 0;
  let isActive = false;
  let isContended = false;
  const onEmpty: (() => void)[] = [];

  function flush(): void {
    const batch = waiting.slice(0, alone > 0 ? 1 : MAX_BATCH);
    try {
      const values = commit(batch.map(({ job }) => job));
      for (const [index, { resolve }] of batch.entries()) resolve(values[index]);
    } catch (error) {
      if (isBusy(error)) {
        waitForLock(error);
        return;
      }
      if (batch.length > 1) {
        alone = batch.length;
        soon(flush);
        return;
      }
      batch[0]?.reject(error);
    }
    waiting = waiting.slice(batch.length);
    alone = Math.max(alone - batch.length, 0);
    goOn();
  }

  function goOn(): void {
    const wasContended = isContended;
    isContended = false;
    if (waiting.length === 0) {
      isActive = false;
      for (const resolve of onEmpty.splice(0)) resolve();
    } else if (wasContended) clock.after(GIVE_WAY_MS, flush);
    else soon(flush);
  }

  function waitForLock(error: unknown): void {
    isContended = true;
    const now = clock.monotonic();
    // The oldest wait in front.
    while (waiting[0] && now - waiting[0].since > PATIENCE_MS) {
      waiting.shift()?.reject(error);
      alone = Math.max(alone - 1, 0);
    }
    if (waiting.length === 0) goOn();
    else clock.after(RETRY_MS + random() * RETRY_JITTER_MS, flush);
  }

  return {
    push: (job) =>
      new Promise((resolve, reject) => {
        const since = clock.monotonic();
        waiting.push({ job, since, resolve: resolve as Waiting["resolve"], reject });
        if (isActive) return;
        isActive = true;
        soon(flush);
      }),

    isDue: () => isActive && !isContended,

    drain: () => (isActive ? new Promise((resolve) => onEmpty.push(resolve)) : Promise.resolve()),
  };
}
