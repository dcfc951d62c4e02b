/**
 * Keeps the ledger in the memory of this process, for tests and scripts: a restart loses
 * everything.
 *
 * Subpath export `"holdfire/memory"`.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import { ClosedError } from "../errors.ts";
import { systemClock } from "../lang/clock.ts";
import { NO_LANE } from "../ledger/lane.ts";
import { pruneAs, wipePayloads } from "../ledger/prune.ts";
import { matches, pageLimit, placeIn, pruneLimit } from "../ledger/query.ts";
import type { OperationRecord, Stored } from "../ledger/record.ts";
import type { LeaseChange, Store, StoredLane } from "../ledger/store.ts";
import { createWatchers } from "./watchers.ts";

export interface MemoryStoreOptions {
  /**
   * The store's clock, in milliseconds since the epoch. Leases are measured on it.
   *
   * @default a clock that starts with the process and never steps
   */
  readonly now?: (() => number) | undefined;
  /**
   * Accepts that the ledger is lost with the process. Without it, a write whose tool is neither
   * keyed nor readable is refused: after a restart nothing could tell whether it had been sent.
   *
   * @default such writes are refused
   */
  readonly forgets?: "accepted" | undefined;
}

/** Changed in place: to put another one under the same id takes as long as to find it again. */
interface Entry {
  record: OperationRecord;
  version: number;
  leaseUntil: number | undefined;
  /** Its position in the order of creation. */
  readonly order: number;
}

/** The ledger of one tenant. Each tenant has its own maps, so that names of two tenants cannot collide. */
interface TenantLedger {
  /** In the order of creation, which a `Map` keeps. */
  readonly entries: Map<string, Entry>;
  readonly lanes: Map<string, StoredLane>;
  /** The operation that owns each effect, by service. */
  readonly effects: Map<string, Map<string, string>>;
  /** The effects of each operation, to release them when it is removed. */
  readonly owned: Map<string, { readonly service: string; readonly effectId: string }[]>;
}

/**
 * The store ends with the process, so it can use a clock that a change of the host's time does not
 * move.
 */
const { timeOrigin } = performance;
const steady = (): number => Math.floor(timeOrigin + systemClock.monotonic());

export function memoryStore({ now = steady, forgets }: MemoryStoreOptions = {}): Store {
  const ledgerId = randomUUID();
  const ledgers = new Map<string, TenantLedger>();
  const watchers = createWatchers();
  // Also the source of versions: a version used twice could let a stale swap succeed after a
  // removal.
  let sequence = 0;
  let closed = false;

  function ledgerOf(tenant: string): TenantLedger {
    if (closed) throw new ClosedError();
    const ledger = ledgers.get(tenant) ?? emptyLedger();
    ledgers.set(tenant, ledger);
    return ledger;
  }

  return {
    name: "memory",
    promise: {
      survives: "nothing",
      mayForget: true,
      forgettingAccepted: forgets === "accepted",
      text: "Kept in the memory of this process; a restart loses everything.",
    },

    async open() {
      if (closed) throw new ClosedError();
      return { id: ledgerId, sequence, now: now() };
    },

    async swap({ tenant, id, expect, record, lease, lane }) {
      const ledger = ledgerOf(tenant);
      const time = now();
      const entry = ledger.entries.get(id);
      const there = lane && (ledger.lanes.get(lane.name) ?? NO_LANE);
      const isOther = (entry?.version ?? 0) !== expect;
      if (isOther || (there && there.version !== lane.expect)) {
        const changed = isOther ? undefined : there;
        return { ok: false, current: entry && storedOf(entry), lane: changed, now: time };
      }
      sequence += 1;
      if (lane?.lane) ledger.lanes.set(lane.name, { lane: lane.lane, version: sequence });
      else if (lane) ledger.lanes.delete(lane.name);
      const leaseUntil = record && leaseAfter(lease, entry, time);
      if (!record) remove(ledger, id);
      else if (entry) {
        entry.record = record;
        entry.version = sequence;
        entry.leaseUntil = leaseUntil;
      } else {
        ledger.entries.set(id, { record, version: sequence, leaseUntil, order: sequence });
      }
      watchers.announce(tenant, id);
      return { ok: true, version: record ? sequence : 0, leaseUntil, now: time, sequence };
    },

    async read(tenant, id) {
      const entry = ledgerOf(tenant).entries.get(id);
      return { stored: entry && storedOf(entry), now: now() };
    },

    async readLane(tenant, name) {
      return { stored: ledgerOf(tenant).lanes.get(name), now: now() };
    },

    async own(tenant, service, effectId, id) {
      const { effects, owned } = ledgerOf(tenant);
      const ofService = effects.get(service) ?? new Map<string, string>();
      const owner = ofService.get(effectId);
      if (owner !== undefined) return owner;
      effects.set(service, ofService.set(effectId, id));
      owned.set(id, [...(owned.get(id) ?? []), { service, effectId }]);
      return id;
    },

    async ownerOf(tenant, service, effectId) {
      return ledgerOf(tenant).effects.get(service)?.get(effectId);
    },

    async list(query) {
      const limit = pageLimit(query.limit);
      const { newestFirst = false } = query;
      const from = query.cursor === undefined ? undefined : placeIn(query.cursor);
      const isBefore = (order: number) =>
        from !== undefined && (newestFirst ? order >= from : order <= from);
      const entries = ledgerOf(query.tenant).entries.values();
      const items: Stored[] = [];
      let last = 0;
      for (const entry of newestFirst ? [...entries].reverse() : entries) {
        if (isBefore(entry.order) || !matches(entry.record, query)) continue;
        if (items.length === limit) return { items, cursor: String(last) };
        items.push(storedOf(entry));
        last = entry.order;
      }
      return { items };
    },

    async prune(query) {
      const ledger = ledgerOf(query.tenant);
      const limit = pruneLimit(query.limit);
      let payloads = 0;
      let tombstones = 0;
      for (const [id, entry] of ledger.entries) {
        if (payloads + tombstones === limit) break;
        const fate = pruneAs(entry.record, query, now());
        if (fate === "keep") continue;
        sequence += 1;
        if (fate === "remove") {
          remove(ledger, id);
          tombstones += 1;
        } else {
          Object.assign(entry, { record: wipePayloads(entry.record), version: sequence });
          payloads += 1;
        }
        watchers.announce(query.tenant, id);
      }
      return { payloads, tombstones };
    },

    watch(tenant, id, changed) {
      if (closed) throw new ClosedError();
      return watchers.watch(tenant, id, changed);
    },

    async close() {
      closed = true;
      ledgers.clear();
      watchers.clear();
    },
  };
}

const emptyLedger = (): TenantLedger => ({
  entries: new Map(),
  lanes: new Map(),
  effects: new Map(),
  owned: new Map(),
});

const storedOf = ({ record, version, leaseUntil }: Entry): Stored => ({
  record,
  version,
  leaseUntil,
});

function remove({ entries, effects, owned }: TenantLedger, id: string): void {
  entries.delete(id);
  for (const { service, effectId } of owned.get(id) ?? []) effects.get(service)?.delete(effectId);
  owned.delete(id);
}

function leaseAfter(change: LeaseChange, entry: Entry | undefined, now: number) {
  if (change === "keep") return entry?.leaseUntil;
  return change === "none" ? undefined : now + change;
}
