/**
 * The store contract, on a database here or in a worker.
 *
 * @module
 */

import { ClosedError, InvalidInputError, StoreUnavailableError } from "../../errors.ts";
import { type Clock, sleep } from "../../lang/clock.ts";
import { pageLimit, pruneLimit } from "../../ledger/query.ts";
import type { Change, Store, StorePromise, Swapped } from "../../ledger/store.ts";
import type { Backend } from "./backend.ts";
import { monotonicMs } from "./boot-clock.ts";
import type { Opened } from "./engine.ts";
import { hashOf } from "./hash.ts";
import type { Job, LaneRow, Place, SwapDone, SwapJob, Value } from "./job.ts";
import { createQueue } from "./queue.ts";
import { createRecent } from "./recent.ts";
import { type ReadRow, rowOf, storedOf } from "./row.ts";
import type { Scanned } from "./scan.ts";
import { createWatchers } from "./watchers.ts";

export interface StoreParts {
  /** The file. */
  readonly address: string;
  readonly promise: StorePromise;
  /** Makes the database; `onLost` is called when it must be opened again. */
  readonly backend: (onLost: () => void) => Backend;
  /** The store's clock, in place of the host's. */
  readonly now: (() => number) | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

const OPEN_PATIENCE_MS = 30_000;
const OPEN_RETRY_MS = 5;
/** Rows pruned in one transaction: a longer one would hold up every other write. */
const PRUNED_AT_ONCE = 100;

export function createStore(parts: StoreParts): Store {
  const { address, promise, backend, now: given, clock, random } = parts;
  const watchers = createWatchers();
  const recent = createRecent();
  const database = backend(() => {
    opened = undefined;
    opening = undefined;
  });
  const queue = createQueue({
    commit: (jobs) => database.call("commit", jobs, now()),
    clock,
    random,
    soon: (run) => void setImmediate(run),
  });
  let opened: Opened | undefined;
  let opening: Promise<Opened> | undefined;
  let closing: Promise<void> | undefined;

  function now(): number {
    if (given) return given();
    return Math.floor((opened?.anchor.base ?? 0) + monotonicMs());
  }

  async function connect(): Promise<Opened> {
    const until = clock.monotonic() + OPEN_PATIENCE_MS;
    for (;;) {
      const result = await database.open();
      if (result.tag === "refused") throw new InvalidInputError("sqlite.path", result.rule);
      if (result.tag === "opened") {
        opened = result.opened;
        return opened;
      }
      if (clock.monotonic() >= until) throw new StoreUnavailableError("open");
      await sleep(clock, OPEN_RETRY_MS * (1 + random()));
    }
  }

  /** Opens on first use. A failed opening is tried again by the next call. */
  async function ready(): Promise<Opened> {
    if (closing) throw new ClosedError();
    if (opened) return opened;
    opening ??= connect().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  async function write<J extends Job>(job: J): Promise<Value<J>> {
    if (closing) throw new ClosedError();
    return queue.push(job);
  }

  return {
    name: "sqlite",
    address,
    promise,

    async open() {
      const { id } = await ready();
      return { id, sequence: await database.call("sequence"), now: now() };
    },

    async swap(change) {
      if (!opened || closing) await ready();
      const { tenant, id } = change;
      const job = jobOf(change);
      // A repeated claim is answered without the queue, and so without waiting for a sync.
      if (change.expect === 0 && recent.has(job.hash)) {
        const row = await database.call("read", job);
        if (row) return { ok: false, current: storedOf(tenant, row), now: now() };
      }
      const done = await write(job);
      recent.add(job.hash);
      if (done.ok) watchers.announce(tenant, id);
      return swappedOf(tenant, done);
    },

    async read(tenant, id) {
      await ready();
      const row = await database.call("read", placeOf(tenant, id));
      return { stored: row && storedOf(tenant, row), now: now() };
    },

    async readLane(tenant, name) {
      await ready();
      const row = await database.call("readLane", tenant, name);
      return { stored: row && laneOf(row), now: now() };
    },

    async own(tenant, service, effect, owner) {
      await ready();
      return write({ kind: "own", tenant, service, effect, owner });
    },

    async ownerOf(tenant, service, effect) {
      await ready();
      return database.call("ownerOf", tenant, service, effect);
    },

    async list(query) {
      await ready();
      const limit = pageLimit(query.limit);
      let after: number | undefined = query.cursor === undefined ? 0 : seqIn(query.cursor);
      const rows: ReadRow[] = [];
      while (after !== undefined) {
        // One more than a page holds tells whether there is another.
        const scanned: Scanned = await database.call("scan", query, after, limit + 1 - rows.length);
        rows.push(...scanned.rows);
        const last = rows.length > limit ? rows[limit - 1] : undefined;
        const items = rows.slice(0, limit).map((row) => storedOf(query.tenant, row));
        if (last) return { items, cursor: String(last.seq) };
        after = scanned.last;
        if (after === undefined) return { items };
        await new Promise((resolve) => setImmediate(resolve));
      }
      return { items: [] };
    },

    async prune(query) {
      await ready();
      const limit = pruneLimit(query.limit);
      let payloads = 0;
      let tombstones = 0;
      for (;;) {
        const chunk = Math.min(limit - payloads - tombstones, PRUNED_AT_ONCE);
        const done = await write({ kind: "prune", query, limit: chunk });
        payloads += done.payloads;
        tombstones += done.tombstones;
        for (const id of done.ids) watchers.announce(query.tenant, id);
        if (done.ids.length < chunk || payloads + tombstones === limit) break;
      }
      // Not the caller's concern: who still reads keeps the log, and a later checkpoint empties it.
      if (payloads + tombstones > 0) await database.call("checkpoint").catch(() => {});
      return { payloads, tombstones };
    },

    watch(tenant, id, changed) {
      if (closing) throw new ClosedError();
      return watchers.add(tenant, id, changed);
    },

    close() {
      closing ??= (async () => {
        await opening?.catch(() => {});
        await queue.drain();
        await database.close();
        watchers.clear();
      })();
      return closing;
    },
  };
}

const placeOf = (tenant: string, id: string): Place => ({ tenant, id, hash: hashOf(tenant, id) });

const jobOf = ({ tenant, id, expect, record, lease, lane }: Change): SwapJob => ({
  kind: "swap",
  tenant,
  id,
  hash: hashOf(tenant, id),
  expect,
  row: record && rowOf(record),
  lease,
  lane: lane && {
    name: lane.name,
    expect: lane.expect,
    text: lane.lane && JSON.stringify(lane.lane),
  },
});

function swappedOf(tenant: string, done: SwapDone): Swapped {
  const { now } = done;
  if (done.ok) {
    const { version, lease, sequence } = done;
    return { ok: true, version, leaseUntil: lease ?? undefined, now, sequence };
  }
  const current = done.current && storedOf(tenant, done.current);
  if (!done.lane) return { ok: false, current, now };
  const lane = done.lane === "gone" ? { lane: { queue: [] }, version: 0 } : laneOf(done.lane);
  return { ok: false, current, lane, now };
}

const laneOf = ({ text, version }: LaneRow) => ({ lane: JSON.parse(text), version });

function seqIn(cursor: string): number {
  const seq = Number(cursor);
  if (!Number.isSafeInteger(seq) || seq < 1) {
    throw new InvalidInputError("query.cursor", "must come from the page before.");
  }
  return seq;
}
