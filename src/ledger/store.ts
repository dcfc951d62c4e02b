/**
 * The contract of a store: versioned records that change by compare-and-swap, and nothing else.
 *
 * A store never decides. Which change is legal is said once, in `apply.ts`; the store promises only
 * that a change happens whole, durably, and if nobody was faster. So four stores cannot drift into
 * four behaviours, and a call that goes well costs two trips: one swap to claim, one to settle.
 *
 * Every store passes `storeContract` from `holdfire/testing`.
 *
 * @module
 */

import type { OperationRecord, StateTag, Stored } from "./record.ts";

/** What a store survives. Printed by tools, checked before a write that nobody could look up. */
export interface StorePromise {
  /** What the ledger outlives. */
  readonly survives: "nothing" | "process" | "host" | "host_loss";
  /** Whether it may forget a claim it has acknowledged. */
  readonly mayForget: boolean;
  /** The user accepted, by name, that it may forget. */
  readonly forgettingAccepted: boolean;
  /** One sentence for people. */
  readonly text: string;
}

/** Names this ledger, and how far it has come: an older copy put back is noticed by it. */
export interface Incarnation {
  readonly id: string;
  /** The highest sequence handed out. */
  readonly sequence: number;
  /** The store's clock at the time of the answer. */
  readonly now: number;
}

/** How the lease changes with a write: for so many milliseconds from the store's now, or not. */
export type LeaseChange = number | "keep" | "none";

/** The queue of one resource. Truth about its holder is in the holder's own record. */
export interface LaneRecord {
  /** The operation that writes to the resource now. */
  readonly holder?: string | undefined;
  /** Operations made inside it, which write to the same resource. */
  readonly inner?: readonly string[] | undefined;
  /** Those that wait, in order; a ticket whose time has passed belongs to nobody. */
  readonly queue: readonly { readonly id: string; readonly until: number }[];
}

export interface StoredLane {
  readonly lane: LaneRecord;
  readonly version: number;
}

export interface LaneChange {
  readonly name: string;
  readonly expect: number;
  /** `undefined` removes the lane. */
  readonly lane: LaneRecord | undefined;
}

export interface Change {
  readonly tenant: string;
  readonly id: string;
  /** The version this change was decided on; `0` = there is no such record. */
  readonly expect: number;
  /** `undefined` removes the record; with `expect` 0, the change is that of the lane alone. */
  readonly record: OperationRecord | undefined;
  readonly lease: LeaseChange;
  /**
   * A lane to take or leave in the same move. A store that cannot join the two (a cluster, where they
   * live apart) changes the lane first: a lane whose holder has no open record is free anyway.
   */
  readonly lane?: LaneChange | undefined;
}

export type Swapped =
  | {
      readonly ok: true;
      readonly version: number;
      readonly leaseUntil: number | undefined;
      readonly now: number;
      readonly sequence: number;
    }
  | {
      readonly ok: false;
      /** What stands there instead. */
      readonly current: Stored | undefined;
      /** Set when it was the lane that had changed; version `0` if it is gone. */
      readonly lane?: StoredLane | undefined;
      readonly now: number;
    };

export interface Found {
  readonly stored: Stored | undefined;
  readonly now: number;
}

export interface ListQuery {
  readonly tenant: string;
  readonly states?: readonly StateTag[] | undefined;
  readonly tool?: string | undefined;
  readonly scope?: string | undefined;
  readonly resource?: string | undefined;
  /** Only records whose state was reached at or after this time. */
  readonly since?: number | undefined;
  /** Only records whose state was reached before this time. */
  readonly until?: number | undefined;
  /** From the page before. */
  readonly cursor?: string | undefined;
  /** @default 100, at most 1_000 */
  readonly limit?: number | undefined;
}

export interface Page {
  readonly items: readonly Stored[];
  /** Where the next page starts; absent on the last one. */
  readonly cursor?: string | undefined;
}

export interface PruneQuery {
  readonly tenant: string;
  /** Wipes the payloads of operations settled longer ago than this. */
  readonly payloadsOlderThanMs?: number | undefined;
  /** Removes settled operations altogether. A removed one can be fired again. */
  readonly tombstonesOlderThanMs?: number | undefined;
  /** How many records to touch at most. @default 1_000 */
  readonly limit?: number | undefined;
}

export interface Pruned {
  readonly payloads: number;
  readonly tombstones: number;
}

export interface Store {
  /** `"memory"`, `"sqlite"`, … */
  readonly name: string;
  /** Which of its kind it is, without secrets: a path, a prefix, a schema. Names its witness. */
  readonly address?: string | undefined;
  /** A record and its lane are two moves here: who has claimed makes sure of its lane before it fires. */
  readonly lanesApart?: boolean | undefined;
  /** Known once `open` has resolved. */
  readonly promise: StorePromise;
  /** Connects, checks its own settings, and says which ledger this is. Safe to call twice. */
  open(): Promise<Incarnation>;
  /** Writes the change if the record's version is still `expect`. Atomic and durable on return. */
  swap(change: Change): Promise<Swapped>;
  /** Reads one record. Another tenant's is not found. */
  read(tenant: string, id: string): Promise<Found>;
  readLane(
    tenant: string,
    name: string,
  ): Promise<{ readonly stored: StoredLane | undefined; readonly now: number }>;
  /** Gives the effect to `id` unless somebody has it, and returns the operation that has it. */
  own(tenant: string, service: string, effectId: string, id: string): Promise<string>;
  /** The operation that has the effect, if any. */
  ownerOf(tenant: string, service: string, effectId: string): Promise<string | undefined>;
  /** Lists in the order of creation. */
  list(query: ListQuery): Promise<Page>;
  /** Never touches an open operation. */
  prune(query: PruneQuery): Promise<Pruned>;
  /** Calls back when the record may have changed, where the store can tell. Optional: callers poll too. */
  watch?(tenant: string, id: string, changed: () => void): () => void;
  /**
   * A store whose commits join the caller's transaction, where the store has them. Everything else goes
   * on by itself, so that claims are seen before the transaction ends.
   */
  enlist?(tx: unknown): Store;
  /** Releases connections and timers. Safe to call twice. */
  close(): Promise<void>;
}
