/**
 * Keeps the ledger in this process. For tests and scripts: a restart forgets everything.
 *
 * Subpath export `"holdfire/memory"`.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import { ClosedError, InvalidInputError } from "../errors.ts";
import { pruneAs, wipePayloads } from "../ledger/prune.ts";
import { matches, pageLimit, pruneLimit } from "../ledger/query.ts";
import type { OperationRecord, Stored } from "../ledger/record.ts";
import type { LeaseChange, Store, StoredLane } from "../ledger/store.ts";

export interface MemoryStoreOptions {
  /**
   * The store's clock, in milliseconds since the epoch. Leases are measured on it.
   *
   * @default a clock that starts with the process and never steps
   */
  readonly now?: (() => number) | undefined;
  /**
   * Says that you accept a ledger that forgets. Without it, a write whose tool has neither a key nor
   * a reader is refused: after a restart nobody could tell whether it had been sent.
   *
   * @default such writes are refused
   */
  readonly forgets?: "accepted" | undefined;
}

interface Entry extends Stored {
  /** The place in the order of creation. */
  readonly order: number;
}

/** One tenant's ledger. A ledger each, so that no two tenants' names can meet. */
interface Shelf {
  /** In the order of creation, as a `Map` keeps it. */
  readonly entries: Map<string, Entry>;
  readonly lanes: Map<string, StoredLane>;
  /** Who has which effect, by service. */
  readonly effects: Map<string, Map<string, string>>;
  /** The effects of each operation, to let them go with it. */
  readonly owned: Map<string, { readonly service: string; readonly effectId: string }[]>;
  readonly watchers: Map<string, Set<() => void>>;
}

const NO_LANE: StoredLane = { lane: { queue: [] }, version: 0 };

/** The store lives as long as the process, so its clock can be the one that no step of the host moves. */
const steady = (): number => Math.floor(performance.timeOrigin + performance.now());

export function memoryStore({ now = steady, forgets }: MemoryStoreOptions = {}): Store {
  const ledger = randomUUID();
  const shelves = new Map<string, Shelf>();
  // Also the next version: a version that comes back after a removal could let a stale swap pass.
  let sequence = 0;
  let closed = false;

  function shelfOf(tenant: string): Shelf {
    if (closed) throw new ClosedError();
    const shelf = shelves.get(tenant) ?? emptyShelf();
    shelves.set(tenant, shelf);
    return shelf;
  }

  return {
    name: "memory",
    promise: {
      survives: "nothing",
      mayForget: true,
      forgettingAccepted: forgets === "accepted",
      text: "Kept in this process; a restart forgets everything.",
    },

    async open() {
      if (closed) throw new ClosedError();
      return { id: ledger, sequence, now: now() };
    },

    async swap({ tenant, id, expect, record, lease, lane }) {
      const shelf = shelfOf(tenant);
      const time = now();
      const entry = shelf.entries.get(id);
      const current = entry && storedOf(entry);
      if ((entry?.version ?? 0) !== expect) return { ok: false, current, now: time };
      if (lane) {
        const there = shelf.lanes.get(lane.name) ?? NO_LANE;
        if (there.version !== lane.expect) return { ok: false, current, lane: there, now: time };
      }
      sequence += 1;
      if (lane?.lane) shelf.lanes.set(lane.name, { lane: lane.lane, version: sequence });
      else if (lane) shelf.lanes.delete(lane.name);
      const leaseUntil = record && leaseAfter(lease, entry, time);
      if (record) put(shelf, id, record, leaseUntil, sequence);
      else remove(shelf, id);
      announce(shelf, id);
      return { ok: true, version: record ? sequence : 0, leaseUntil, now: time, sequence };
    },

    async read(tenant, id) {
      const entry = shelfOf(tenant).entries.get(id);
      return { stored: entry && storedOf(entry), now: now() };
    },

    async readLane(tenant, name) {
      return { stored: shelfOf(tenant).lanes.get(name), now: now() };
    },

    async own(tenant, service, effectId, id) {
      const { effects, owned } = shelfOf(tenant);
      const ofService = effects.get(service) ?? new Map<string, string>();
      const owner = ofService.get(effectId);
      if (owner !== undefined) return owner;
      effects.set(service, ofService.set(effectId, id));
      owned.set(id, [...(owned.get(id) ?? []), { service, effectId }]);
      return id;
    },

    async ownerOf(tenant, service, effectId) {
      return shelfOf(tenant).effects.get(service)?.get(effectId);
    },

    async list(query) {
      const limit = pageLimit(query.limit);
      const after = query.cursor === undefined ? 0 : orderIn(query.cursor);
      const items: Stored[] = [];
      let last = 0;
      for (const entry of shelfOf(query.tenant).entries.values()) {
        if (entry.order <= after || !matches(entry.record, query)) continue;
        if (items.length === limit) return { items, cursor: String(last) };
        items.push(storedOf(entry));
        last = entry.order;
      }
      return { items };
    },

    async prune(query) {
      const shelf = shelfOf(query.tenant);
      const limit = pruneLimit(query.limit);
      let payloads = 0;
      let tombstones = 0;
      for (const [id, { record, leaseUntil }] of shelf.entries) {
        if (payloads + tombstones === limit) break;
        const fate = pruneAs(record, query, now());
        if (fate === "keep") continue;
        sequence += 1;
        if (fate === "remove") {
          remove(shelf, id);
          tombstones += 1;
        } else {
          put(shelf, id, wipePayloads(record), leaseUntil, sequence);
          payloads += 1;
        }
        announce(shelf, id);
      }
      return { payloads, tombstones };
    },

    watch(tenant, id, changed) {
      const { watchers } = shelfOf(tenant);
      const those = watchers.get(id) ?? new Set();
      // Wrapped, so that the same function given twice is called twice and stopped once.
      const watcher = () => changed();
      watchers.set(id, those.add(watcher));
      return () => {
        those.delete(watcher);
        if (those.size === 0 && watchers.get(id) === those) watchers.delete(id);
      };
    },

    async close() {
      closed = true;
      shelves.clear();
    },
  };
}

const emptyShelf = (): Shelf => ({
  entries: new Map(),
  lanes: new Map(),
  effects: new Map(),
  owned: new Map(),
  watchers: new Map(),
});

const storedOf = ({ record, version, leaseUntil }: Entry): Stored => ({
  record,
  version,
  leaseUntil,
});

function put(
  { entries }: Shelf,
  id: string,
  record: OperationRecord,
  leaseUntil: number | undefined,
  version: number,
): void {
  const order = entries.get(id)?.order ?? version;
  entries.set(id, { record, version, leaseUntil, order });
}

function remove({ entries, effects, owned }: Shelf, id: string): void {
  entries.delete(id);
  for (const { service, effectId } of owned.get(id) ?? []) effects.get(service)?.delete(effectId);
  owned.delete(id);
}

function leaseAfter(change: LeaseChange, entry: Entry | undefined, now: number) {
  if (change === "keep") return entry?.leaseUntil;
  return change === "none" ? undefined : now + change;
}

function announce({ watchers }: Shelf, id: string): void {
  for (const watcher of watchers.get(id) ?? []) {
    try {
      watcher();
    } catch {
      // Watching must not change what happens.
    }
  }
}

function orderIn(cursor: string): number {
  const order = Number(cursor);
  if (!Number.isSafeInteger(order) || order < 1) {
    throw new InvalidInputError("query.cursor", "must come from the page before.");
  }
  return order;
}
