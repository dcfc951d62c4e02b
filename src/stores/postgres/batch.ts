/**
 * Moves that are asked for at the same time go out as one statement, and so share one commit.
 *
 * Equal keys never share a statement: of those that were decided on the same version one is asked for,
 * and its answer is the answer to all. What a statement could not do is tried again alone, after a pause
 * that only its own caller waits for.
 *
 * @module
 */

import { ClosedError, StoreUnavailableError } from "../../errors.ts";
import type { Swapped } from "../../ledger/store.ts";
import { sqlStateOf, unavailable } from "./client.ts";
import type { Move } from "./row.ts";
import type { Answer } from "./swap.ts";

export interface BatchOptions {
  /** Makes moves of different keys and lanes in one statement. */
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
  readonly resolve: (swapped: Swapped) => void;
  readonly reject: (error: unknown) => void;
}

/** Jobs of the same key, decided on the same version: whoever is second has lost. */
type Group = readonly [Job, ...Job[]];

/** Two, so that one is on its way while the other is on disk. More make smaller statements. */
const MAX_STATEMENTS = 2;
const MAX_ROWS = 250;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 100;
/** How long a move waits for a row that another transaction has locked. */
const PATIENCE_MS = 4_000;

export function createBatcher({ run, pause }: BatchOptions): Batcher {
  const queue = new Map<string, [Job, ...Job[]]>();
  /** Keys and lanes of the statements under way. */
  const taken = new Set<string>();
  const active = new Set<Promise<void>>();
  let statements = 0;
  let isArmed = false;
  let isBusy = false;
  let isClosed = false;

  function enqueue(job: Job): void {
    if (isClosed) {
      job.reject(new ClosedError());
      return;
    }
    const { key, change } = job.move;
    const name = `${key} ${change.expect}`;
    const same = queue.get(name);
    if (same) same.push(job);
    else queue.set(name, [job]);
    arm();
  }

  /** A lone move goes at once; under load the turn of the event loop ends first, for others to ask, too. */
  function arm(): void {
    if (isArmed) return;
    isArmed = true;
    if (isBusy) setImmediate(send);
    else queueMicrotask(send);
  }

  function send(): void {
    isArmed = false;
    while (statements < MAX_STATEMENTS) {
      const groups = take();
      if (groups.length === 0) return;
      isBusy = groups.length > 1;
      track(make(groups));
    }
  }

  /** What one statement may hold now; the rest waits for the next. */
  function take(): readonly Group[] {
    const groups: Group[] = [];
    for (const [name, group] of queue) {
      if (groups.length === MAX_ROWS) break;
      const names = namesOf(group[0].move);
      if (names.some((each) => taken.has(each))) continue;
      for (const each of names) taken.add(each);
      queue.delete(name);
      groups.push(group);
    }
    return groups;
  }

  async function make(groups: readonly Group[]): Promise<void> {
    statements += 1;
    const moves = groups.map(([{ move }]) => move);
    const answers = await run(moves).catch((error: unknown) => ({ error }));
    statements -= 1;
    for (const each of moves.flatMap(namesOf)) taken.delete(each);
    for (const group of groups) {
      if (!("error" in answers)) answer(group, answers.get(group[0].move.key) ?? "busy");
      else if (isUndone(answers.error)) answer(group, "busy");
      else for (const { reject } of group) reject(unavailable("swap", answers.error));
    }
    if (queue.size > 0) arm();
  }

  function answer([first, ...others]: Group, swapped: Answer): void {
    if (swapped === "busy") track(alone(first.move).then(first.resolve, first.reject));
    else first.resolve(swapped);
    const theirs = swapped === "busy" ? undefined : answerToSecond(first.move, swapped);
    for (const other of others) theirs ? other.resolve(theirs) : enqueue(other);
  }

  async function alone(move: Move): Promise<Swapped> {
    let pauseMs = FIRST_PAUSE_MS;
    for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += pauseMs) {
      if ((await pause(pauseMs)) === "woken") throw new ClosedError();
      try {
        const swapped = (await run([move])).get(move.key) ?? "busy";
        if (swapped !== "busy") return swapped;
      } catch (error) {
        if (!isRace(error)) throw unavailable("swap", error);
      }
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
    throw new StoreUnavailableError("swap, a row that another transaction has locked");
  }

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => active.delete(tracked));
    active.add(tracked);
  }

  return {
    swap: (move) => new Promise((resolve, reject) => enqueue({ move, resolve, reject })),

    async close() {
      isClosed = true;
      for (const group of queue.values()) for (const { reject } of group) reject(new ClosedError());
      queue.clear();
      while (active.size > 0) await Promise.allSettled(active);
    },
  };
}

const namesOf = ({ key, lane }: Move): string[] => (lane ? [key, `lane ${lane.key}`] : [key]);

/** What the first one's answer says to another that expected the same; nothing, if it must ask itself. */
function answerToSecond({ change }: Move, swapped: Swapped): Swapped | undefined {
  const { now } = swapped;
  if (!swapped.ok) return swapped.lane ? undefined : swapped;
  const { record, expect } = change;
  if (!record) return expect === 0 ? undefined : { ok: false, current: undefined, now };
  const { version, leaseUntil } = swapped;
  return { ok: false, current: { record, version, leaseUntil }, now };
}

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
