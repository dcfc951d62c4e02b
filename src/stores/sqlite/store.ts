/**
 * The store contract on one connection: writes go through the queue, reads go straight to the database.
 *
 * @module
 */

import { ClosedError, InvalidInputError, StoreUnavailableError } from "../../errors.ts";
import { sleep, soon, systemClock } from "../../lang/clock.ts";
import { packRecord } from "../../ledger/codec/record-text.ts";
import { pageLimit, pageOf, pruneLimit } from "../../ledger/query.ts";
import type { Store, StorePromise } from "../../ledger/store.ts";
import { createWatchers } from "../watchers.ts";
import { monotonicMs, thisHost } from "./boot-clock.ts";
import { connect, type Durability } from "./connect.ts";
import { type Database, databaseOn } from "./database.ts";
import { isBusy } from "./driver.ts";
import { type PlacedRow, type Scanned, startOf } from "./scan.ts";
import { createWriteQueue } from "./write-queue.ts";

export interface StoreParts {
  readonly path: string;
  readonly durability: Durability;
  readonly promise: StorePromise;
  /** The store's clock, in place of the host's. */
  readonly now: (() => number) | undefined;
}

/** How long to wait for another process that makes, migrates or recovers the database. */
const PATIENCE_MS = 30_000;
const RETRY_MS = 5;
/** Records pruned in one transaction: a longer one would delay every other write. */
const PRUNED_AT_ONCE = 100;

export function createStore({ path, durability, promise, now: ownClock }: StoreParts): Store {
  const clock = systemClock;
  const watchers = createWatchers();
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

  return {
    name: "sqlite",
    address: path,
    promise,

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
      const { scan } = await ready();
      const limit = pageLimit(query.limit);
      const found: PlacedRow[] = [];
      let after: number | undefined =
        query.cursor === undefined ? startOf(query) : seqIn(query.cursor);
      // One more than a page holds shows whether there is another page.
      while (after !== undefined && found.length <= limit) {
        const { items, last }: Scanned = scan(query, after, limit + 1 - found.length);
        found.push(...items);
        after = last;
        if (last !== undefined) await new Promise((resolve) => soon(resolve));
        if (closing) throw new ClosedError();
      }
      const isMore = found.length > limit;
      return pageOf(found.slice(0, limit), isMore ? String(found[limit - 1]?.seq) : undefined);
    },

    async prune(query) {
      const { prune, emptyLog } = await ready();
      const limit = pruneLimit(query.limit);
      let [payloads, tombstones, isMore] = [0, 0, true];
      while (isMore) {
        const chunk = Math.min(limit - payloads - tombstones, PRUNED_AT_ONCE);
        const { wiped, removed } = await queue.push(() => prune(query, chunk));
        payloads += wiped.length;
        tombstones += removed.length;
        for (const id of [...wiped, ...removed]) watchers.announce(query.tenant, id);
        isMore = wiped.length + removed.length === chunk && payloads + tombstones < limit;
      }
      if (payloads + tombstones > 0) emptyLog();
      return { payloads, tombstones };
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
}

function seqIn(cursor: string): number {
  const seq = Number(cursor);
  if (!Number.isSafeInteger(seq) || seq < 1) {
    throw new InvalidInputError("query.cursor", "must be the cursor of an earlier page.");
  }
  return seq;
}
