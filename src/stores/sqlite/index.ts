/**
 * Keeps the ledger in a SQLite file. The default: no server, safe across processes, durable on return.
 *
 * Subpath export `"holdfire/sqlite"`. It needs no driver: Node brings SQLite along.
 *
 * @module
 */

import { resolve } from "node:path";
import { ClosedError, InvalidInputError } from "../../errors.ts";
import { soon, systemClock } from "../../lang/clock.ts";
import { packRecord } from "../../ledger/codec/record-text.ts";
import type { Store, StorePromise } from "../../ledger/store.ts";
import { defaultPath, entryFolder } from "../default-path.ts";
import { createWatchers } from "../watchers.ts";
import { monotonicMs, thisHost } from "./boot-clock.ts";
import { connect, type Durability } from "./connect.ts";
import { type Database, databaseOn } from "./database.ts";
import { pathProblem } from "./file-safety.ts";
import { createWriteQueue, type Job, type WriteQueueOptions } from "./write-queue.ts";

export type { Durability } from "./connect.ts";

export interface SqliteStoreOptions {
  /**
   * The file. It is made with its folder, readable by its owner only. Links, folders that everybody can
   * write to, and files of other programs are refused. It must be on a local disk: a network share
   * cannot hold it.
   *
   * @default HOLDFIRE_STORE, else `.holdfire/ledger.db` beside the package.json nearest to the entry script
   */
  readonly path?: string | undefined;
  /**
   * What an acknowledged write survives. `"full"`: a loss of power; each turn of the event loop that
   * writes waits for the disk once. `"process"`: the end of the process, however sudden; about eight
   * times faster for one caller, but a loss of power may lose the last writes, and a call whose claim
   * is lost can be fired again.
   *
   * @default "full"
   */
  readonly durability?: Durability | undefined;
  /**
   * The store's clock, in milliseconds since the epoch, for tests. Leases are measured on it; all
   * processes on one file must agree on it.
   *
   * @default the host's monotonic clock, which cannot be set
   */
  readonly now?: (() => number) | undefined;
}

const PROMISES: Readonly<Record<Durability, StorePromise>> = {
  full: {
    survives: "host",
    mayForget: false,
    forgettingAccepted: false,
    text: "Kept in a file, synced to disk before each answer; it survives a crash and a loss of power, not the loss of the disk.",
  },
  process: {
    survives: "process",
    mayForget: false,
    forgettingAccepted: false,
    text: "Kept in a file, not synced before each answer; it survives the end of the process, but a loss of power may lose the last writes.",
  },
};

export function sqliteStore(options: SqliteStoreOptions = {}): Store {
  const { durability = "full", now: ownClock } = options;
  const given =
    options.path ?? defaultPath(process.env, entryFolder(process.argv[1], process.cwd()));
  const problem = pathProblem(given);
  if (problem !== undefined) throw new InvalidInputError("sqlite.path", problem);
  if (!Object.hasOwn(PROMISES, durability)) {
    throw new InvalidInputError("sqlite.durability", `must be "full" or "process".`);
  }
  // Resolved now: the process may change its folder before the file is opened.
  const path = resolve(given);
  const watchers = createWatchers();
  let database: Database | undefined;
  let closing: Promise<void> | undefined;

  /** Opens on first use. A failed opening is tried again by the next call. */
  function opened(): Database {
    database ??= databaseOn(connect(path, durability, ownClock ? undefined : thisHost()));
    return database;
  }

  const now = (): number =>
    ownClock ? ownClock() : Math.floor((database?.anchor?.base ?? 0) + monotonicMs());

  const queueOf = (commit: WriteQueueOptions["commit"]) =>
    createWriteQueue({ commit, clock: systemClock, random: Math.random, soon });
  const writes = queueOf((jobs) => opened().commit(jobs, now()));
  // Reads wait for no lock, but to make, migrate or recover the database takes one.
  const openings = queueOf((jobs) => jobs.map((job) => job()));

  const reading =
    <A extends unknown[], T>(read: (from: Database, ...args: A) => T | Promise<T>) =>
    async (...args: A): Promise<T> => {
      if (closing) throw new ClosedError();
      return read(database ?? (await openings.push(opened)), ...args);
    };

  function write<T>(job: Job<T>): Promise<T> {
    if (closing) throw new ClosedError();
    return writes.push(job);
  }

  return {
    name: "sqlite",
    address: path,
    promise: PROMISES[durability],
    open: reading(({ identify }) => ({ ...identify(), now: now() })),

    async swap(change) {
      const { tenant, id, expect, record } = change;
      // A repeated claim waits for no lock and no sync. Where a transaction begins anyway, that one finds it: a read
      // of its own costs every new claim a sixth of the store's time.
      const current = expect === 0 && !writes.isDue() ? database?.find(tenant, id) : undefined;
      if (current) return { ok: false, current, now: now() };
      const text = record && packRecord(record);
      const swapped = await write(() => opened().swap(change, text));
      if (swapped.ok) watchers.announce(tenant, id);
      return swapped;
    },

    read: reading(({ find }, tenant, id) => ({ stored: find(tenant, id), now: now() })),
    readLane: reading(({ findLane }, tenant, name) => ({
      stored: findLane(tenant, name),
      now: now(),
    })),
    own: async (...effect) => write(() => opened().own(...effect)),
    ownerOf: reading(({ ownerOf }, ...effect) => ownerOf(...effect)),
    list: reading(({ list }, query) => list(query)),

    async prune(query) {
      const changes = await write(() => opened().prune(query));
      for (const { tenant, id } of changes) watchers.announce(tenant, id);
      if (changes.length > 0) database?.emptyLog();
      const payloads = changes.filter(({ record }) => record !== undefined).length;
      return { payloads, tombstones: changes.length - payloads };
    },

    watch(tenant, id, changed) {
      if (closing) throw new ClosedError();
      return watchers.watch(tenant, id, changed);
    },

    close() {
      closing ??= (async () => {
        await openings.drain();
        await writes.drain();
        database?.close();
        database = undefined;
        watchers.clear();
      })();
      return closing;
    },
  };
}
