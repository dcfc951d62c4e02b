/**
 * The groups of `npm run bench`: what each shows, what it is compared with, and what is not like for like.
 *
 * @module
 */

import { HOLDFIRE } from "../call/cases.ts";
import type { Measure } from "./figures.ts";

export interface Column {
  readonly measure: Measure;
  readonly head: string;
}

export interface Group {
  /** As it is asked for on the command line. */
  readonly name: string;
  readonly title: string;
  /** The first one is drawn, and compared. */
  readonly columns: readonly [Column, ...Column[]];
  /** The series that the others are compared with, and how the ratio is read. */
  readonly compared?:
    | {
        readonly base: string;
        /** Which is divided by which. */
        readonly as: "base_by_row" | "row_by_base";
        readonly head: string;
      }
    | undefined;
  /** Whether a larger figure is the better one. */
  readonly better: "more" | "less";
  /** What was measured, and what is not like for like. For the page. */
  readonly about: string;
}

const BESIDE = { base: HOLDFIRE, as: "base_by_row", head: "holdfire ÷ this" } as const;

const CALLS: readonly [Column, ...Column[]] = [
  { measure: "perSecond", head: "calls/s" },
  { measure: "p50Us", head: "p50 µs" },
  { measure: "p99Us", head: "p99 µs" },
];

const calls = (name: string, title: string, about: string): Group => ({
  name,
  title,
  columns: CALLS,
  compared: BESIDE,
  better: "more",
  about,
});

export const GROUPS: readonly Group[] = [
  calls(
    "memory",
    "A guarded call that does nothing, in memory",
    "A bare `await`, p-retry and cockatiel remember nothing: the same call again runs again. Powertools ships no store in memory; it has the custom layer of its documentation over a `Map`. Powertools hashes its payload and node-idempotency the body; holdfire derives the key from arguments and scope, and also fences the owner, keeps a lease and counts the requests that leave.",
  ),
  calls(
    "sqlite",
    "Whole calls on SQLite, full sync",
    "The floors are written by hand: a row of the same size inserted and updated, with nothing else around it. With ordered keys, as a ledger that mints its own has them; and with hashes, as keys that every process can derive must be. They have no retries, lanes or events, and no process takes over what a dead one has left.",
  ),
  calls(
    "redis",
    "Whole calls on Redis",
    "The floor is a `SET NX` and a script that settles under a fence. Powertools and node-idempotency settle with an unfenced `SET`: a late first owner overwrites a newer outcome. They use node-redis, holdfire and the floor ioredis.",
  ),
  calls(
    "postgres",
    "Whole calls on Postgres",
    "The floor is an INSERT and an UPDATE for all callers that wait. A DBOS step is a workflow with one step: it writes a workflow, a step and a completion, and recovers whole programs. Restate keeps a log of its own in place of Postgres, and is called over HTTP. Neither is like for like: a durable engine does more than a guarded call.",
  ),
  {
    name: "replay",
    title: "The same call again",
    columns: [
      { measure: "perSecond", head: "replays/s" },
      { measure: "p50Us", head: "p50 µs" },
      { measure: "cpuUs", head: "CPU µs" },
    ],
    compared: BESIDE,
    better: "more",
    about:
      "Calls that are done are made again: each is answered from the store, and the function does not run.",
  },
  {
    name: "trips",
    title: "Round trips to Redis",
    columns: [
      { measure: "trips", head: "a new call" },
      { measure: "tripsAgain", head: "the same call again" },
    ],
    better: "less",
    about:
      "Counted on the server with `MONITOR`; what a script does inside the server is not a trip.",
  },
  {
    name: "loop",
    title: "How late the event loop is",
    columns: [{ measure: "loopMaxMs", head: "longest stall, ms" }],
    compared: BESIDE,
    better: "less",
    about:
      "The longest stall in each round, taken in the same rounds as the calls. SQLite syncs on the main thread: a stall is the sync of the disk.",
  },
  {
    name: "cost",
    title: "Processor time and memory of one call",
    columns: [
      { measure: "cpuUs", head: "CPU µs" },
      { measure: "allocatedKb", head: "KB allocated" },
    ],
    compared: BESIDE,
    better: "less",
    about:
      "Processor time of the calling process with 100 callers, garbage collection included; memory with one caller. Of Redis, Postgres and Restate only the client's part.",
  },
  {
    name: "processes",
    title: "Several processes on one SQLite file",
    columns: [
      { measure: "perSecond", head: "calls/s together" },
      { measure: "p99Us", head: "p99 µs" },
      { measure: "loopMaxMs", head: "longest stall, ms" },
      { measure: "loopBeyondMs", head: "beyond an idle process, ms" },
    ],
    compared: { base: "holdfire, 1 process", as: "row_by_base", head: "× 1 process" },
    better: "more",
    about:
      "96 callers in all, spread over the processes. An idle process is measured beside them: how late it is, is the machine's doing. The floor waits with SQLite's own busy handler.",
  },
  {
    name: "growth",
    title: "As the ledger grows",
    columns: [
      { measure: "p50Us", head: "p50 µs" },
      { measure: "p99Us", head: "p99 µs" },
    ],
    compared: { base: "10,000 rows", as: "row_by_base", head: "× 10,000 rows" },
    better: "less",
    about:
      "The SQLite store without the sync, which would hide the growth; ids in no order; ten operations in a scope, fifty unknown ones in each ledger.",
  },
  {
    name: "heap",
    title: "Heap over many calls",
    columns: [{ measure: "heapMb", head: "MB after a collection" }],
    compared: { base: "first half", as: "row_by_base", head: "× first half" },
    better: "less",
    about:
      "One process, 100 callers, SQLite: the heap in use after a full collection, nine samples in each half of the calls.",
  },
  {
    name: "keys",
    title: "Deriving a key from arguments",
    columns: [{ measure: "us", head: "µs" }],
    compared: BESIDE,
    better: "less",
    about:
      "holdfire makes the canonical form, a frozen copy of it and the id of the operation. `JSON.stringify` is no canonical form: two orders of the same fields give two keys.",
  },
  {
    name: "import",
    title: "Import and size",
    columns: [
      { measure: "ms", head: "import, ms" },
      { measure: "kb", head: "installed, KB" },
    ],
    compared: BESIDE,
    better: "less",
    about:
      "A fresh process each time; the size on the disk with all packages it depends on. Clients of stores are not counted for any of them.",
  },
  {
    name: "wire",
    title: "The wire token's share of a request",
    columns: [
      { measure: "p50Us", head: "p50 µs" },
      { measure: "cpuUs", head: "CPU µs" },
    ],
    compared: { base: "bare fetch", as: "row_by_base", head: "× bare fetch" },
    better: "less",
    about:
      "A POST of 1 KB to a server on the loopback in the same process, one at a time. Any real service is farther away, and the share smaller.",
  },
  {
    name: "gateway",
    title: "The gateway's share of a tool call",
    columns: [
      { measure: "p50Us", head: "p50 µs" },
      { measure: "p99Us", head: "p99 µs" },
    ],
    compared: { base: "bare pipe", as: "row_by_base", head: "× bare pipe" },
    better: "less",
    about:
      "A call of an MCP tool over standard input and output, without the gateway and through it, call by call in turns. The server answers at once: any real tool takes longer, and the share is smaller.",
  },
  {
    name: "sizing",
    title: "What one call costs the server",
    columns: [
      { measure: "serverCpuUs", head: "server CPU µs" },
      { measure: "cpuUs", head: "client CPU µs" },
      { measure: "bytes", head: "bytes kept" },
      { measure: "logBytes", head: "bytes of WAL" },
      { measure: "perSecond", head: "calls/s here" },
    ],
    better: "less",
    about:
      "holdfire with 100 callers. The server's processor time is its own count (Redis) or that of its processes (Postgres, on Linux); the bytes are those of one settled operation with a small result.",
  },
];

export const groupOf = (name: string): Group | undefined =>
  GROUPS.find((group) => group.name === name);
