/**
 * The durable store of the simulation: the contents outlive every process, the way to it is bad.
 *
 * Each process has a front end of its own. A call takes time each way, may be lost each way, and is
 * acknowledged only once it is synced: what is not may be lost when the power fails.
 */

import type { OperationRecord, Stored } from "../../../src/ledger/record.ts";
import type { Change, Store, Swapped } from "../../../src/ledger/store.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import type { Chance } from "./chance.ts";
import type { Host, Timeline } from "./clock.ts";
import type { Hits, StoreFate } from "./fates.ts";
import type { Transit } from "./network.ts";
import { TIMES } from "./settings.ts";

/** One change of one record, and who made it. */
export interface Written {
  readonly at: number;
  readonly by: string;
  readonly id: string;
  readonly before: OperationRecord | undefined;
  /** When its lease would have ended, by the store's clock as it went then. */
  readonly leaseBefore?: number | undefined;
  readonly after: OperationRecord | undefined;
}

export type Outage = "refuses" | "hangs";

export interface DurableStore {
  /** The store as one process sees it. `fates` is drawn from in order; when it is empty, all goes well. */
  frontEnd(host: Host, fates: StoreFate[]): Store;
  /** The store as somebody sees it who sits beside it: at once, and without faults. */
  beside(): Store;
  /** Every change that was applied, in order. */
  readonly history: readonly Written[];
  dump(): Promise<readonly OperationRecord[]>;
  /** When the last attempt of an operation ends by, as it was noted; now, if there is none. */
  endOf(op: string): number;
  /** When the way to it was bad for the first time; never, so far: Infinity. */
  troubledAt(): number;
  down(how: Outage | undefined): void;
  prune(query: { readonly payloads: boolean; readonly tombstones: boolean }): Promise<number>;
  /** What was not synced is gone, and so is all that was under way. */
  failPower(): Promise<void>;
  /** Its clock is set. */
  stepClock(ms: number): void;
  /** Removes a record, whatever its state; only a store that may forget does that. */
  evict(record: OperationRecord): Promise<void>;
}

export const TENANT = "default";

/** Works beside the store; what a person says is safe at once. */
export const PERSON = "ana";

export interface StoreSurroundings {
  readonly time: Timeline;
  readonly chance: Chance;
  readonly transit: Transit;
  readonly hits: Hits;
  /** How long the disk takes; a few milliseconds if left out. */
  readonly syncMs?: number | undefined;
  /** It may evict records, and says so. */
  readonly forgets?: boolean | undefined;
}

export function createStore({
  time,
  chance,
  transit,
  hits,
  syncMs,
  forgets = false,
}: StoreSurroundings): DurableStore {
  let setBy = 0;
  const now = () => time.now() + setBy;
  const inner = memoryStore({ now, forgets: "accepted" });
  const history: Written[] = [];
  const ends = new Map<string, number>();
  const syncing = new Map<string, Promise<void>>();
  let unsynced: {
    readonly seq: number;
    readonly id: string;
    readonly before: Stored | undefined;
  }[] = [];
  let outage: Outage | undefined;
  let troubledAt = Number.POSITIVE_INFINITY;
  let epoch = 0;
  const delay = () => chance.between(1, 15);
  const recordOf = async (id: string) => (await inner.read(TENANT, id)).stored;

  /** Resolves when the disk says so; what was written before is then safe as well. */
  const sync = (seq: number, id: string): Promise<void> => {
    const done = new Promise<void>((resolve) => {
      const synced = () => {
        unsynced = unsynced.filter((entry) => entry.seq > seq);
        resolve();
      };
      transit(syncMs ?? delay(), synced, "sync");
    });
    syncing.set(id, done);
    return done;
  };

  /** Nobody is told of a write that may still be lost. */
  async function durable<T>(id: string, by: string, answer: T): Promise<T> {
    if (by !== PERSON) await syncing.get(id);
    return answer;
  }

  async function write(change: Change, by: string): Promise<Swapped> {
    const { id } = change;
    const before = await recordOf(id);
    const swapped = await inner.swap(change);
    if (!swapped.ok) return durable(id, by, swapped);
    const seq = history.push({
      at: time.now(),
      by,
      id,
      before: before?.record,
      leaseBefore: before?.leaseUntil === undefined ? undefined : before.leaseUntil - setBy,
      after: change.record,
    });
    const [op] = change.record?.aliases ?? [];
    const { endsBy } = change.record?.attempts.at(-1) ?? {};
    if (op !== undefined && endsBy !== undefined) ends.set(op, endsBy - setBy);
    if (by === PERSON) {
      unsynced = unsynced.filter((entry) => entry.id !== id);
      return swapped;
    }
    unsynced.push({ seq, id, before });
    await sync(seq, id);
    return swapped;
  }

  function frontEnd(host: Host, fates: StoreFate[]): Store {
    function ask<T>(what: string, work: () => Promise<T>): Promise<T> {
      const fate = fates.shift() ?? "ok";
      hits.hit(`store:${fate}`);
      if (outage) hits.hit(`store-down:${outage}`);
      if (outage || fate !== "ok") troubledAt = Math.min(troubledAt, time.now());
      const failed = outage === "refuses" || fate === "refuse";
      const lost = outage === "hangs" || fate === "hang-before";
      const born = epoch;
      const slow = fate === "slow" ? TIMES.store - 100 : 0;
      return new Promise((resolve, reject) => {
        const back = (call: () => void) =>
          transit(delay() + slow / 2, () => host.deliver(call), `${what}:back`);
        const refuse = () => reject(new Error("the store is unreachable"));
        if (lost) return;
        if (failed) return back(refuse);
        const there = async () => {
          if (born !== epoch) return;
          const answer = await work();
          if (born !== epoch || fate === "hang-after") return;
          back(fate === "lose-reply" ? refuse : () => resolve(answer));
        };
        transit(delay() + slow, () => void there(), `${what}:there`);
      });
    }
    return storeOn(ask, host.name);
  }

  type Ask = <T>(what: string, work: () => Promise<T>) => Promise<T>;

  const storeOn = (ask: Ask, by: string): Store => ({
    name: "simulated",
    promise: {
      survives: "host",
      mayForget: forgets,
      forgettingAccepted: false,
      text: "Simulated.",
    },
    open: () => ask("open", () => inner.open()),
    swap: (change) => ask("swap", () => write(change, by)),
    read: (tenant, id) => ask("read", async () => durable(id, by, await inner.read(tenant, id))),
    readLane: (tenant, name) => ask("lane", () => inner.readLane(tenant, name)),
    own: (...given) => ask("own", () => inner.own(...given)),
    ownerOf: (...given) => ask("owner", () => inner.ownerOf(...given)),
    list: (query) => ask("list", () => inner.list(query)),
    prune: (query) => ask("prune", () => inner.prune(query)),
    close: async () => {},
  });

  return {
    frontEnd,
    beside: () => storeOn((_, work) => work(), PERSON),
    history,
    async dump() {
      const page = await inner.list({ tenant: TENANT, limit: 1_000 });
      return page.items.map(({ record }) => record);
    },
    endOf: (op) => ends.get(op) ?? time.now(),
    troubledAt: () => troubledAt,
    down(how) {
      outage = how;
    },
    async prune({ payloads, tombstones }) {
      const before = await inner.list({ tenant: TENANT, limit: 1_000 });
      const done = await inner.prune({
        tenant: TENANT,
        payloadsOlderThanMs: payloads ? 0 : undefined,
        tombstonesOlderThanMs: tombstones ? 0 : undefined,
      });
      for (const { record } of before.items) {
        const after = (await recordOf(record.id))?.record;
        if (after !== record)
          history.push({
            at: time.now(),
            by: "reaper",
            id: record.id,
            before: record,
            after,
          });
      }
      return done.payloads + done.tombstones;
    },
    stepClock(ms) {
      setBy += ms;
    },
    async evict({ id }) {
      const stored = await recordOf(id);
      if (!stored) return;
      const { record: before, version: expect } = stored;
      await inner.swap({ tenant: TENANT, id, expect, record: undefined, lease: "none" });
      unsynced = unsynced.filter((entry) => entry.id !== id);
      history.push({ at: time.now(), by: "eviction", id, before, after: undefined });
    },
    async failPower() {
      epoch += 1;
      troubledAt = Math.min(troubledAt, time.now());
      const lost = unsynced.reverse();
      unsynced = [];
      for (const { id, before } of lost) {
        hits.hit("store:unsynced-lost");
        const expect = (await recordOf(id))?.version ?? 0;
        if (expect === 0 && !before) continue;
        const until = before?.leaseUntil;
        const lease = until === undefined ? "none" : Math.max(until - now(), 1);
        await inner.swap({ tenant: TENANT, id, expect, record: before?.record, lease });
        history.push({
          at: time.now(),
          by: "power",
          id,
          before: undefined,
          after: before?.record,
        });
      }
    },
  };
}
