/**
 * Moves that are asked for at the same time go out as one statement, and so share one commit.
 *
 * Moves of the same key or lane never share a statement: the later one waits for the next. What a
 * statement could not do is tried again alone, after a pause that only its own caller waits for.
 *
 * @module
 */

import { ClosedError, StoreUnavailableError } from "../../errors.ts";
import { soon } from "../../lang/clock.ts";
import type { Swapped } from "../../ledger/store.ts";
import { sqlStateOf } from "./client.ts";
import type { Move } from "./row.ts";
import type { Answer } from "./swap.ts";

export interface BatchOptions {
  /** Makes moves of different keys and lanes, in the order of the keys, in one statement. */
  readonly run: (moves: readonly Move[]) => Promise<ReadonlyMap<string, Answer>>;
  /** Waits so many milliseconds; `"woken"` when the store is closed meanwhile. */
  readonly pause: (ms: number) => Promise<"slept" | "woken">;
}

export interface Batcher {
  swap(move: Move): Promise<Swapped>;
  /** Refuses what still waits, and returns when nothing is under way. */
  close(): Promise<void>;
}

interface Job {
  readonly move: Move;
  readonly resolve: (swapped: Swapped | Promise<Swapped>) => void;
  readonly reject: (error: unknown) => void;
}

/** Two, so that one is on its way while the other is on disk. More make smaller statements. */
const MAX_STATEMENTS = 2;
const MAX_ROWS = 250;
/** Fewer are not worth a statement of their own. */
const MIN_ROWS = 25;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 100;
/** How long a move waits for a row that another transaction has locked. */
const PATIENCE_MS = 4_000;

export function createBatcher({ run, pause }: BatchOptions): Batcher {
  let queue: Job[] = [];
  /** Keys and lanes of the statements under way. */
  const taken = new Set<string>();
  const active = new Set<Promise<unknown>>();
  let statements = 0;
  let isArmed = false;
  let isBusy = false;
  let isClosed = false;

  /** A lone move goes at once; under load the turn of the event loop ends first, for others to join. */
  function arm(): void {
    if (isArmed) return;
    isArmed = true;
    if (isBusy) soon(send);
    else queueMicrotask(send);
  }

  function send(): void {
    isArmed = false;
    while (statements < MAX_STATEMENTS) {
      const jobs = take();
      if (jobs.length === 0) return;
      isBusy = jobs.length > 1;
      void track(make(jobs));
    }
  }

  /**
   * What one statement may hold now; the rest waits for the next. While both statements are free each
   * gets half: the database works on one while the other is written or read here.
   */
  function take(): readonly Job[] {
    const share = Math.ceil(queue.length / (MAX_STATEMENTS - statements));
    const rows = Math.min(Math.max(share, MIN_ROWS), MAX_ROWS);
    const jobs: Job[] = [];
    const left: Job[] = [];
    for (const job of queue) {
      const names = namesOf(job.move);
      const mustWait = jobs.length === rows || names.some((name) => taken.has(name));
      (mustWait ? left : jobs).push(job);
      if (!mustWait) for (const name of names) taken.add(name);
    }
    queue = left;
    return jobs;
  }

  /**
   * In the order of the keys, in which rows are locked and sequences given out: a later sequence that is answered
   * first would look like the work of another process.
   */
  async function make(unsorted: readonly Job[]): Promise<void> {
    const jobs = unsorted.toSorted((a, b) => (a.move.key < b.move.key ? -1 : 1));
    const moves = jobs.map(({ move }) => move);
    statements += 1;
    const answers = await run(moves).catch((error: unknown) => ({ error }));
    statements -= 1;
    for (const name of moves.flatMap(namesOf)) taken.delete(name);
    for (const { move, resolve, reject } of jobs) {
      if ("error" in answers && !isUndone(answers.error)) reject(answers.error);
      else {
        const answer = "error" in answers ? "busy" : (answers.get(move.key) ?? "busy");
        resolve(answer === "busy" ? track(alone(move)) : answer);
      }
    }
    if (queue.length > 0) arm();
  }

  async function alone(move: Move): Promise<Swapped> {
    let pauseMs = FIRST_PAUSE_MS;
    for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += pauseMs) {
      if ((await pause(pauseMs)) === "woken") throw new ClosedError();
      try {
        const answer = (await run([move])).get(move.key) ?? "busy";
        if (answer !== "busy") return answer;
      } catch (error) {
        if (!isRace(error)) throw error;
      }
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
    throw new StoreUnavailableError("swap, a row that another transaction has locked");
  }

  function track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => active.delete(tracked));
    active.add(tracked);
    return tracked;
  }

  return {
    swap: (move) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new ClosedError());
        queue.push({ move, resolve, reject });
        arm();
      }),

    async close() {
      isClosed = true;
      for (const { reject } of queue) reject(new ClosedError());
      queue = [];
      while (active.size > 0) await Promise.allSettled(active);
    },
  };
}

const namesOf = ({ key, lane }: Move): string[] => (lane ? [key, `lane ${lane.key}`] : [key]);

const UNIQUE_VIOLATION = "23505";
const LOCK_NOT_AVAILABLE = "55P03";
const CANCELLED = "57014";

/** Data, constraints, rollbacks, limits, locks: one of several rows may be to blame. */
const UNDONE_CLASSES: ReadonlySet<string> = new Set(["22", "23", "40", "54", "55"]);

/** Whether nothing of the statement happened for certain, and its parts may fare better alone. */
function isUndone(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== undefined && (UNDONE_CLASSES.has(state.slice(0, 2)) || state === CANCELLED);
}

/** Another transaction was in the way: a row made first, a deadlock, a serialization failure. */
function isRace(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === UNIQUE_VIOLATION || state === LOCK_NOT_AVAILABLE || state?.slice(0, 2) === "40";
}
