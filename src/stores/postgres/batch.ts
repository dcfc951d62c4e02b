/**
 * Gathers the moves that are asked for while others are under way into one statement.
 *
 * A lone move goes at once. Equal keys never share a statement: of those that were decided on the same
 * version one leads, and its answer is the answer to all. What a statement could not do is tried again
 * alone, after a pause that only its own caller waits for.
 *
 * @module
 */

import { ClosedError, StoreUnavailableError } from "../../errors.ts";
import type { Swapped } from "../../ledger/store.ts";
import { isRace, isUndone, unavailable } from "./failure.ts";
import type { Asked } from "./row.ts";
import type { Answer } from "./swap.ts";

export interface BatchOptions {
  /** Makes moves of different keys and lanes in one statement. */
  readonly run: (asked: readonly Asked[]) => Promise<ReadonlyMap<string, Answer>>;
  /** Waits so many milliseconds; `"woken"` when the store is closed meanwhile. */
  readonly pause: (ms: number) => Promise<"slept" | "woken">;
}

export interface Batcher {
  swap(asked: Asked): Promise<Swapped>;
  /** Refuses what still waits, and returns when nothing is under way. */
  close(): Promise<void>;
}

interface Waiting {
  readonly asked: Asked;
  readonly resolve: (swapped: Swapped) => void;
  readonly reject: (error: unknown) => void;
}

interface Group {
  readonly leader: Waiting;
  /** The same key, decided on the same version: whoever is second has lost. */
  readonly followers: Waiting[];
}

/** Two, so that one is on its way while the other is on disk. More make smaller statements. */
const MAX_FLIGHTS = 2;
const MAX_ROWS = 250;
/** Fewer are not worth a statement of their own. */
const MIN_SHARED_ROWS = 25;
const MAX_CHARACTERS = 2_000_000;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 100;
/** How long a move waits for a row that another transaction has locked. */
const PATIENCE_MS = 4_000;

export function createBatcher({ run, pause }: BatchOptions): Batcher {
  const active = new Set<Promise<void>>();
  /** Keys and lanes of the statements under way. */
  const taken = new Set<string>();
  let queue: Waiting[] = [];
  let flights = 0;
  let armed = false;
  let busy = false;
  let closed = false;

  /** Under load a turn of the event loop is waited for: the others are about to ask, too. */
  function arm(): void {
    if (armed) return;
    armed = true;
    if (busy) setImmediate(takeOff);
    else queueMicrotask(takeOff);
  }

  function takeOff(): void {
    armed = false;
    while (flights < MAX_FLIGHTS && queue.length > 0) {
      const { groups, left } = divide(queue, taken, shareOf(queue.length, MAX_FLIGHTS - flights));
      if (groups.length === 0) return;
      queue = left;
      busy = groups.length > 1;
      track(fly(groups));
    }
  }

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => active.delete(tracked));
    active.add(tracked);
  }

  async function fly(groups: readonly Group[]): Promise<void> {
    const names = groups.flatMap(({ leader }) => namesOf(leader.asked));
    for (const name of names) taken.add(name);
    flights += 1;
    const answers = await run(groups.map(({ leader }) => leader.asked)).catch((error: unknown) => ({
      error,
    }));
    flights -= 1;
    for (const name of names) taken.delete(name);
    for (const group of groups) {
      if (!("error" in answers)) land(group, answers.get(group.leader.asked.key) ?? "busy");
      else if (isUndone(answers.error)) land(group, "busy");
      else fail(group, answers.error);
    }
    if (queue.length > 0) arm();
  }

  function land({ leader, followers }: Group, answer: Answer): void {
    if (answer === "busy") {
      track(alone(leader.asked).then(leader.resolve, leader.reject));
    } else leader.resolve(answer);
    const theirs = answer === "busy" ? undefined : answerToSecond(leader.asked, answer);
    if (theirs) for (const { resolve } of followers) resolve(theirs);
    else if (followers.length > 0) enqueue(followers);
  }

  function fail({ leader, followers }: Group, error: unknown): void {
    for (const { reject } of [leader, ...followers]) reject(unavailable("swap", error));
  }

  async function alone(asked: Asked): Promise<Swapped> {
    let pauseMs = FIRST_PAUSE_MS;
    for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += pauseMs) {
      if ((await pause(pauseMs)) === "woken") throw new ClosedError();
      try {
        const answer = (await run([asked])).get(asked.key) ?? "busy";
        if (answer !== "busy") return answer;
      } catch (error) {
        if (!isRace(error)) throw unavailable("swap", error);
      }
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
    throw new StoreUnavailableError("swap, a row that another transaction has locked");
  }

  function enqueue(waiting: readonly Waiting[]): void {
    if (closed) for (const { reject } of waiting) reject(new ClosedError());
    else {
      queue.push(...waiting);
      arm();
    }
  }

  return {
    swap: (asked) =>
      new Promise((resolve, reject) => {
        enqueue([{ asked, resolve, reject }]);
      }),

    async close() {
      closed = true;
      const refused = queue;
      queue = [];
      enqueue(refused);
      while (active.size > 0) await Promise.allSettled(active);
    },
  };
}

/** How many rows the next statement takes, so that all that may fly are about equally full. */
function shareOf(waiting: number, free: number): number {
  const share = Math.ceil(waiting / free);
  return Math.min(share < MIN_SHARED_ROWS ? waiting : share, MAX_ROWS);
}

/** What one statement may hold now, and what must wait for the next. */
function divide(
  queue: readonly Waiting[],
  taken: ReadonlySet<string>,
  rows: number,
): { readonly groups: readonly Group[]; readonly left: Waiting[] } {
  const leaders = new Map<string, Group>();
  const names = new Set(taken);
  const left: Waiting[] = [];
  let characters = 0;
  for (const waiting of queue) {
    const { asked } = waiting;
    const group = leaders.get(asked.key);
    if (group && group.leader.asked.change.expect === asked.change.expect) {
      group.followers.push(waiting);
      continue;
    }
    const own = namesOf(asked);
    const isFull = leaders.size === rows || characters > MAX_CHARACTERS;
    if (isFull || own.some((name) => names.has(name))) {
      left.push(waiting);
      continue;
    }
    for (const name of own) names.add(name);
    characters += asked.text?.length ?? 0;
    leaders.set(asked.key, { leader: waiting, followers: [] });
  }
  return { groups: [...leaders.values()], left };
}

const namesOf = ({ key, lane }: Asked): string[] => (lane ? [key, `lane ${lane.key}`] : [key]);

/** What the first one's answer says to another that expected the same; nothing, if it must ask itself. */
function answerToSecond({ change }: Asked, answer: Swapped): Swapped | undefined {
  const { now } = answer;
  if (!answer.ok) return answer.lane ? undefined : answer;
  const { record, expect } = change;
  if (!record) return expect === 0 ? undefined : { ok: false, current: undefined, now };
  const { version, leaseUntil } = answer;
  return { ok: false, current: { record, version, leaseUntil }, now };
}
