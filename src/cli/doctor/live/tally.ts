/**
 * What a watched process logs, a line of JSON each, and what the lines of all processes add up to: requests per
 * logical call. A line is written as it happens, so that a process that is killed has logged what it did.
 *
 * Inside holdfire a logical call is an operation. Outside, it is not known which requests belong to one call: a request
 * counts as sent again if the same method and address had just failed. Bodies are not compared.
 *
 * @module
 */

export type Line =
  | {
      readonly tag: "begin";
      /** Counts the requests of the process, from 1. */
      readonly n: number;
      readonly method: string;
      readonly origin: string;
      /** Without the query. */
      readonly path: string;
      /** Equal for equal addresses, the query included; says nothing of them. */
      readonly same: string;
      /** The attempt of holdfire's that it belongs to. */
      readonly operation?: string | undefined;
      readonly attempt?: number | undefined;
    }
  /** The request of that number went out once more. */
  | { readonly tag: "resend"; readonly n: number }
  | { readonly tag: "status"; readonly n: number; readonly status: number }
  | { readonly tag: "error"; readonly n: number }
  /** There was more than is written down. */
  | { readonly tag: "cut" };

/** Where a watched process writes: the folder, and the salt of `same`. */
export const FOLDER = "HOLDFIRE_LIVE_FOLDER";
export const SALT = "HOLDFIRE_LIVE_SALT";

interface OperationTally {
  readonly operation: string;
  readonly attempts: number;
  /** The requests of its attempts. */
  readonly requests: number;
  /** The requests by which holdfire looked: `readState`, `plan`, a list of effects. */
  readonly reads: number;
  /** Sent again within one attempt: hidden retries. */
  readonly again: number;
  /** Its first request, without the query; of an attempt, if there was one. */
  readonly first: string;
}

interface GroupTally {
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  readonly requests: number;
  readonly failed: number;
  /** Sent after the same had failed. */
  readonly again: number;
}

export interface Tally {
  /** Processes that made a request. */
  readonly processes: number;
  readonly operations: readonly OperationTally[];
  readonly outside: readonly GroupTally[];
  /** More was sent than could be written down. */
  readonly cut: boolean;
}

/** The number of an attempt that is none: holdfire looks, and asks again where it must. */
export const LOOK = 0;

type Begin = Extract<Line, { tag: "begin" }>;
type Counts<T> = { -readonly [K in keyof T]: T[K] };

const isFailure = (status: number): boolean =>
  status >= 500 || status === 408 || status === 409 || status === 425 || status === 429;

/** Each process by itself: two processes that ask the same are no retry. */
export function tallyOf(processes: readonly (readonly Line[])[]): Tally {
  const operations = new Map<string, Counts<OperationTally> & { seen: Set<number> }>();
  const outside = new Map<string, Counts<GroupTally>>();
  let cut = false;

  function countInside(line: Begin, isAgain: boolean) {
    const { operation = "", attempt = 0, method, origin, path } = line;
    const known = operations.get(operation) ?? {
      ...{ operation, attempts: 0, requests: 0, reads: 0, again: 0, seen: new Set<number>() },
      first: `${method} ${origin}${path}`,
    };
    operations.set(operation, known);
    if (attempt === LOOK) {
      known.reads += 1;
      return;
    }
    if (known.requests === 0) known.first = `${method} ${origin}${path}`;
    known.seen.add(attempt);
    known.attempts = known.seen.size;
    known.requests += 1;
    if (isAgain) known.again += 1;
  }

  function groupOf({ method, origin, path }: Begin): Counts<GroupTally> {
    const name = `${method} ${origin}${path}`;
    const group = outside.get(name) ?? { method, origin, path, requests: 0, failed: 0, again: 0 };
    outside.set(name, group);
    return group;
  }

  for (const lines of processes) {
    const begun = new Map<number, Begin>();
    /** Failures that nothing has been sent after yet, by what was sent and in which attempt. */
    const open = new Map<string, number>();
    const nameOf = (line: Begin) => `${line.same} ${line.operation} ${line.attempt}`;

    function count(line: Begin, resent: boolean) {
      const failures = open.get(nameOf(line)) ?? 0;
      const isAgain = resent || failures > 0;
      if (failures > 0) open.set(nameOf(line), failures - 1);
      if (line.operation !== undefined) return countInside(line, isAgain);
      const group = groupOf(line);
      group.requests += 1;
      if (isAgain) group.again += 1;
    }

    function fail(line: Begin) {
      open.set(nameOf(line), (open.get(nameOf(line)) ?? 0) + 1);
      if (line.operation === undefined) groupOf(line).failed += 1;
    }

    for (const line of lines) {
      if (line.tag === "cut") {
        cut = true;
        continue;
      }
      if (line.tag === "begin") {
        begun.set(line.n, line);
        count(line, false);
        continue;
      }
      const about = begun.get(line.n);
      if (!about) continue;
      if (line.tag === "resend") count(about, true);
      else if (line.tag === "error" || isFailure(line.status)) fail(about);
    }
  }
  return {
    processes: processes.length,
    operations: [...operations.values()].map(({ seen: _, ...tally }) => tally),
    outside: [...outside.values()].sort((a, b) => b.requests - a.requests),
    cut,
  };
}
