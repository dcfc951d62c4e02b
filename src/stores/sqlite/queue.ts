/**
 * Group commit: everything asked for in one turn of the event loop shares one transaction, and so
 * one sync to disk.
 *
 * A database that another process writes to is asked again later, from a timer. Nothing here, and
 * nothing in SQLite, waits by standing still.
 *
 * @module
 */

import type { Clock } from "../../lang/clock.ts";
import { errorOf } from "./failure.ts";
import type { Committed, Failure, Job, Value } from "./job.ts";

export interface Queue {
  /** Resolves once the job is durable; rejects if it failed, and then it has changed nothing. */
  push<J extends Job>(job: J): Promise<Value<J>>;
  /** Resolves once nothing is left. */
  drain(): Promise<void>;
}

export interface QueueOptions {
  readonly commit: (jobs: readonly Job[]) => Promise<Committed>;
  readonly clock: Clock;
  readonly random: () => number;
  /** Calls back at the end of this turn of the event loop. */
  readonly soon: (run: () => void) => void;
}

interface Waiting {
  readonly job: Job;
  readonly since: number;
  readonly resolve: (value: Value<Job>) => void;
  readonly reject: (error: Error) => void;
}

/** More in one transaction would hold up the event loop. */
const MAX_BATCH = 512;
/** Between two tries: long enough for one commit of somebody else, never longer after a long wait. */
const RETRY_MS = 1;
const RETRY_JITTER_MS = 2;
/** After a fight for the lock: the others poll, so who comes at once would always win. */
const GIVE_WAY_MS = 1;
/** A lock held for longer belongs to somebody who is stuck. Callers stop waiting well before. */
const PATIENCE_MS = 30_000;

export function createQueue({ commit, clock, random, soon }: QueueOptions): Queue {
  let waiting: Waiting[] = [];
  let isActive = false;
  let isContended = false;
  let idle: (() => void)[] = [];

  function wake(): void {
    if (isActive) return;
    isActive = true;
    soon(flush);
  }

  function flush(): void {
    const batch = waiting.slice(0, MAX_BATCH);
    commit(batch.map(({ job }) => job)).then(
      (committed) => {
        if (committed.tag === "busy") return retry(committed.failure);
        waiting = waiting.slice(batch.length);
        for (const [index, { resolve, reject }] of batch.entries()) {
          const done = committed.done[index];
          if (done?.ok) resolve(done.value);
          else reject(errorOf(done?.failure ?? NO_ANSWER));
        }
        goOn();
      },
      (error: Error) => {
        waiting = waiting.slice(batch.length);
        for (const { reject } of batch) reject(error);
        goOn();
      },
    );
  }

  function goOn(): void {
    const wasContended = isContended;
    isContended = false;
    if (waiting.length === 0) {
      isActive = false;
      const done = idle;
      idle = [];
      for (const resolve of done) resolve();
    } else if (wasContended) clock.after(GIVE_WAY_MS, flush);
    else soon(flush);
  }

  function retry(failure: Failure): void {
    isContended = true;
    const now = clock.monotonic();
    const [late, others] = partition(waiting, ({ since }) => now - since > PATIENCE_MS);
    waiting = others;
    for (const { reject } of late) reject(errorOf(failure));
    if (waiting.length === 0) goOn();
    else clock.after(RETRY_MS + random() * RETRY_JITTER_MS, flush);
  }

  return {
    push: <J extends Job>(job: J) =>
      new Promise<Value<J>>((resolve, reject) => {
        const since = clock.monotonic();
        // The database answers each job in kind.
        waiting.push({ job, since, resolve: resolve as Waiting["resolve"], reject });
        wake();
      }),

    drain: () => (isActive ? new Promise((resolve) => idle.push(resolve)) : Promise.resolve()),
  };
}

const NO_ANSWER: Failure = { message: "The database gave no answer.", errcode: undefined };

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
