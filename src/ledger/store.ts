/**
 * The contract of a store: versioned records that change by compare-and-swap.
 *
 * A store never decides. Which change is legal is decided in `moves/apply.ts`; the store only makes a
 * change atomically and durably, unless another process has changed the record first. So all stores
 * behave alike, and a plain call that succeeds costs two round trips: one swap to claim, one to settle.
 *
 * Every store passes `storeContract` from `holdfire/testing`. A durable one writes a record as the text of
 * `codec/record-text.ts`. `stores/default.ts` makes the store of a user who gives none. `docs/write-a-store.md` explains all
 * of it. A new store in this package needs:
 *
 *   - its folder in `stores/`, its line in `exports` of package.json, and its driver in `devDependencies`; `npm run reference`
 *     then makes its page
 *   - a test in `test/stores/` that runs `storeContract`; if it starts a server, its name in `test/stores/{…}` of
 *     `vitest.config.ts`
 *   - an address that the command line knows: `cli/ledger/open-ledger.ts`, `cli/command.ts` and `cli/help.ts`, and
 *     `docs/command-line.md`
 *   - its name in the list of folders in `src/index.ts` and in `CONTRIBUTING.md`, its section in `docs/stores.md`, and its rows in
 *     the tables of the README and of `docs/upgrading.md`
 *   - its tests in `test/mutation/rooms.ts`; if it is durable, its bench in `bench/stores.ts` and `bench/stores/`, and its place in
 *     `test/processes/place.ts` and `ground.ts`
 *
 * @module
 */

import type { OperationRecord, StateTag, Stored } from "./record.ts";

/**
 * What a store survives. Shown to people, and checked before a write that is neither keyed nor
 * readable.
 */
export interface StorePromise {
  /** What the ledger survives: the end of the process, of the host, or the loss of the host. */
  readonly survives: "nothing" | "process" | "host" | "host_loss";
  /** Whether it may lose a claim that it has acknowledged. */
  readonly mayForget: boolean;
  /** The user has accepted that it may lose claims. */
  readonly forgettingAccepted: boolean;
  /** One sentence for people to read. */
  readonly text: string;
}

/** Identifies this ledger and its last change, so that a restored older copy is noticed. */
export interface Incarnation {
  readonly id: string;
  /** The highest sequence given to a change. */
  readonly sequence: number;
  /** The store's clock at the time of the answer. */
  readonly now: number;
  /**
   * Which history the ledger is on, where the store can tell: another one after a replica was promoted or a backup
   * restored. Letters, digits and dots.
   */
  readonly timeline?: string | undefined;
  /** Which server answered, where there are several; see `Swapped`. */
  readonly server?: string | undefined;
}

/** How a write changes the lease: a number of milliseconds from the store's now, `keep` or `none`. */
export type LeaseChange = number | "keep" | "none";

/**
 * The queue of one resource. Whether its holder still blocks it is in the holder's own record.
 *
 * The gateway (`holdfire mcp`) keeps other lists in such records, where a ticket whose time has passed still counts: a store
 * reads nothing into them.
 */
export interface LaneRecord {
  /** The operation that writes to the resource now. */
  readonly holder?: string | undefined;
  /** Operations made inside the holder that write to the same resource. */
  readonly inner?: readonly string[] | undefined;
  /** The operations that wait, in order; a ticket whose time has passed no longer counts. */
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
  /** The version that this change was decided on; `0` if there is no such record. */
  readonly expect: number;
  /**
   * The stamp of what this change was decided on, where the store gave one. Compared beside the version: a store that was lost
   * and went back to an older state gives a version out again, to another owner.
   */
  readonly stamp?: string | undefined;
  /** `undefined` removes the record; with `expect` 0, only the lane changes. */
  readonly record: OperationRecord | undefined;
  readonly lease: LeaseChange;
  /**
   * A lane to take or leave in the same change. A store that cannot change both atomically (a
   * cluster that keeps them on different nodes) changes the lane first: a lane whose holder has no
   * open record is free.
   */
  readonly lane?: LaneChange | undefined;
}

export type Swapped =
  | {
      readonly ok: true;
      readonly version: number;
      readonly leaseUntil: number | undefined;
      readonly stamp?: string | undefined;
      readonly now: number;
      readonly sequence: number;
      /** Which server answered, and since when it runs: another one than before may lack what was acknowledged. */
      readonly server?: string | undefined;
    }
  | {
      readonly ok: false;
      /** The record as it is instead. */
      readonly current: Stored | undefined;
      /** Set if the lane had changed; version `0` if it is gone. */
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
  /** In the reverse of the order of creation. A cursor goes on only in the order it came from. @default false */
  readonly newestFirst?: boolean | undefined;
  /** From the page before. */
  readonly cursor?: string | undefined;
  /** @default 100, at most 1_000 */
  readonly limit?: number | undefined;
}

export interface Page {
  readonly items: readonly Stored[];
  /** The ids of records on this page that are damaged; absent if there are none. */
  readonly unreadable?: readonly string[] | undefined;
  /** Where the next page starts; absent on the last one. */
  readonly cursor?: string | undefined;
}

export interface PruneQuery {
  readonly tenant: string;
  /** Wipes the payloads of operations settled longer ago than this. */
  readonly payloadsOlderThanMs?: number | undefined;
  /** Removes settled operations altogether. A removed one can be fired again. */
  readonly tombstonesOlderThanMs?: number | undefined;
  /** How many records to change at most. @default 1_000 */
  readonly limit?: number | undefined;
}

export interface Pruned {
  readonly payloads: number;
  readonly tombstones: number;
}

export interface Store {
  /** `"memory"`, `"sqlite"`, … */
  readonly name: string;
  /**
   * Where it keeps the ledger, without secrets: a path, a prefix, a schema. The witness goes by the ledger's own id;
   * the address only says where another ledger was before. Left out: the store is taken to end with the process, and
   * its losses are not watched for from outside.
   */
  readonly address?: string | undefined;
  /** A record and its lane change in two steps here, so an owner checks its lane before it fires. */
  readonly lanesApart?: boolean | undefined;
  /** Known once `open` has resolved. */
  readonly promise: StorePromise;
  /** Connects, checks its own settings, and identifies the ledger. Safe to call twice. */
  open(): Promise<Incarnation>;
  /** Writes the change if the record's version is still `expect`. Atomic and durable on return. */
  swap(change: Change): Promise<Swapped>;
  /**
   * Whether the change with this sequence is there. Asked when the timeline has changed: a sequence alone does not
   * tell, where a server hands it out ahead of what it has copied.
   */
  holds?(sequence: number): Promise<boolean>;
  /** Reads one record. A record of another tenant is not found. */
  read(tenant: string, id: string): Promise<Found>;
  readLane(
    tenant: string,
    name: string,
  ): Promise<{ readonly stored: StoredLane | undefined; readonly now: number }>;
  /**
   * Assigns the effect to `id` unless another has it, and returns who has it. The engine keeps other names the same way: a
   * `service` may begin with a control character, and an `id` may name no operation.
   */
  own(tenant: string, service: string, effectId: string, id: string): Promise<string>;
  /** The operation that has the effect, if any. */
  ownerOf(tenant: string, service: string, effectId: string): Promise<string | undefined>;
  /** Lists in the order of creation, or in its reverse. */
  list(query: ListQuery): Promise<Page>;
  /** Never changes an open operation. */
  prune(query: PruneQuery): Promise<Pruned>;
  /** Calls back when the record may have changed. Optional: callers also poll. */
  watch?(tenant: string, id: string, changed: () => void): () => void;
  /**
   * A store whose commits are settled in the caller's transaction, if the store has transactions. Claims, and
   * settles of what was not committed, are written at once, so that other processes see them.
   */
  enlist?(tx: unknown): EnlistedStore;
  /**
   * Of a store in a transaction: whether that has settled the operation. `read` says so, too, while all others find it open
   * until the transaction ends.
   */
  hasSettled?(tenant: string, id: string): boolean;
  /** Releases connections and timers; every other method then rejects with `ClosedError`. Safe to call twice. */
  close(): Promise<void>;
}

/** A store in a transaction of the caller's. */
export interface EnlistedStore extends Store {
  /**
   * Makes the transaction impossible to commit, whatever its caller does next. Called before it is written down that
   * an operation of it was not applied. Does nothing if the transaction has ended.
   */
  spoil(): Promise<void>;
}
