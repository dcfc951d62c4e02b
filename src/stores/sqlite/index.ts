/**
 * Keeps the ledger in a SQLite file. The default: no server, safe across processes, durable on return.
 *
 * Subpath export `"holdfire/sqlite"`. It needs no driver: Node brings SQLite along.
 *
 * @module
 */

import { resolve } from "node:path";
import { ClosedError, InvalidInputError, StoreUnavailableError } from "../../errors.ts";
import { sleep, soon, systemClock } from "../../lang/clock.ts";
import { packRecord } from "../../ledger/codec/record-text.ts";
import { pruneLimit } from "../../ledger/query.ts";
import type { Change, Store, StorePromise } from "../../ledger/store.ts";
import { defaultPath, entryFolder } from "../default-path.ts";
import { createWatchers } from "../watchers.ts";
import { monotonicMs, thisHost } from "./boot-clock.ts";
import { connect, type Durability } from "./connect.ts";
import { type Database, databaseOn } from "./database.ts";
import { isBusy } from "./driver.ts";
import { pathProblem } from "./file-safety.ts";
import { createWriteQueue } from "./write-queue.ts";

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

/** How long to wait for another process that makes, migrates or recovers the database. */
const PATIENCE_MS = 30_000;
const RETRY_MS = 5;
/** Records pruned in one transaction: a longer one would delay every other write. */
const PRUNED_AT_ONCE = 100;

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
  const clock = systemClock;
  const watchers = createWatchers();
  // Writes go through it, reads go straight to the database.
  const queue = createWriteQueue({
    commit(jobs) {
      if (!database) throw new ClosedError();
      return database.commit(jobs, now());
    },
    clock,
    random: Math.random,
    soon,
  });
  let database: Database | undefined;
  let opening: Promise<Database> | undefined;
  let closing: Promise<void> | undefined;

  function now(): number {
    if (ownClock) return ownClock();
    return Math.floor((database?.anchor?.base ?? 0) + monotonicMs());
  }

  async function openWhenFree(): Promise<Database> {
    for (const until = clock.monotonic() + PATIENCE_MS; ; ) {
      try {
        database = databaseOn(connect(path, durability, ownClock ? undefined : thisHost()));
        return database;
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (clock.monotonic() >= until) throw new StoreUnavailableError("open", error);
      }
      await sleep(clock, RETRY_MS * (1 + Math.random()));
    }
  }

  /** Opens on first use. A failed opening is tried again by the next call. */
  async function ready(): Promise<Database> {
    if (closing) throw new ClosedError();
    if (database) return database;
    opening ??= openWhenFree().finally(() => {
      opening = undefined;
    });
    return opening;
  }

  const store: Store = {
    name: "sqlite",
    address: path,
    promise: PROMISES[durability],

    async open() {
      const { identify } = await ready();
      return { ...identify(), now: now() };
    },

    async swap(change) {
      const { find, swap } = database && !closing ? database : await ready();
      const { tenant, id, expect, record } = change;
      // A repeated claim waits for no lock and no sync. Where a transaction begins anyway, that one finds it: a read
      // of its own costs every new claim a sixth of the store's time.
      const current = expect === 0 && !queue.isDue() ? find(tenant, id) : undefined;
      if (current) return { ok: false, current, now: now() };
      const text = record && packRecord(record);
      const swapped = await queue.push(() => swap(change, text));
      if (swapped.ok) watchers.announce(tenant, id);
      return swapped;
    },

    async read(tenant, id) {
      const { find } = await ready();
      return { stored: find(tenant, id), now: now() };
    },

    async readLane(tenant, name) {
      const { findLane } = await ready();
      return { stored: findLane(tenant, name), now: now() };
    },

    async own(tenant, service, effectId, id) {
      const { own } = await ready();
      return queue.push(() => own(tenant, service, effectId, id));
    },

    async ownerOf(tenant, service, effectId) {
      const { ownerOf } = await ready();
      return ownerOf(tenant, service, effectId);
    },

    async list(query) {
      const { list } = await ready();
      return list(query, async () => {
        await new Promise<void>((resolve) => soon(resolve));
        if (closing) throw new ClosedError();
      });
    },

    async prune(query) {
      const pruned = { payloads: 0, tombstones: 0 };
      const pruneOne = async (change: Change): Promise<void> => {
        const { ok } = await store.swap(change);
        // Another process may have changed it, which makes it young again.
        if (ok) pruned[change.record ? "payloads" : "tombstones"] += 1;
      };
      for (let left = pruneLimit(query.limit); left > 0; left -= PRUNED_AT_ONCE) {
        const { prunable } = await ready();
        const changes = prunable(query, now(), Math.min(left, PRUNED_AT_ONCE));
        await Promise.all(changes.map(pruneOne));
        if (changes.length < PRUNED_AT_ONCE) break;
      }
      if (pruned.payloads + pruned.tombstones > 0) (await ready()).emptyLog();
      return pruned;
    },

    watch(tenant, id, changed) {
      if (closing) throw new ClosedError();
      return watchers.watch(tenant, id, changed);
    },

    close() {
      closing ??= (async () => {
        await opening?.catch(() => {});
        await queue.drain();
        database?.close();
        database = undefined;
        watchers.clear();
      })();
      return closing;
    },
  };
  return store;
}
