/**
 * One open database and everything that can be asked of it. It never waits and never blocks for a
 * lock: it runs on the main thread, or in a worker.
 *
 * @module
 */

import type { ListQuery } from "../../ledger/store.ts";
import { type Anchor, thisHost } from "./boot-clock.ts";
import { type Connection, connect, type Durability } from "./connect.ts";
import type { Committed, Job, LaneRow, Place, Value } from "./job.ts";
import type { Extent } from "./lookup.ts";
import { identityOf } from "./place.ts";
import { pruneOf } from "./prune.ts";
import type { ReadRow } from "./row.ts";
import { type Scanned, scanOf } from "./scan.ts";
import { swap } from "./swap.ts";
import { type Tables, type Turn, tablesOf } from "./tables.ts";
import { transactorOf } from "./transact.ts";

export interface EngineOptions {
  readonly path: string;
  readonly durability: Durability;
  /** Whether the clock is the host's. Otherwise the caller brings the time along. */
  readonly hostClock: boolean;
}

/** Which ledger was opened. */
export interface Opened {
  readonly id: string;
  readonly anchor: Anchor;
}

export type Opening =
  | { readonly tag: "opened"; readonly opened: Opened }
  | { readonly tag: "busy" }
  | { readonly tag: "refused"; readonly rule: string };

/** What can be asked. Arguments and answers are plain data. */
export interface Engine {
  commit(jobs: readonly Job[], now: number): Committed;
  read(place: Place): ReadRow | undefined;
  readLane(tenant: string, name: string): LaneRow | undefined;
  ownerOf(tenant: string, service: string, effect: string): string | undefined;
  scan(query: ListQuery, after: number, wanted: number): Scanned;
  sequence(): number;
  /** Takes what was wiped out of the write-ahead log too, unless somebody still reads it. */
  checkpoint(): void;
  close(): void;
}

export function openEngine(
  options: EngineOptions,
): Exclude<Opening, { tag: "opened" }> | { tag: "opened"; opened: Opened; engine: Engine } {
  const { path, durability, hostClock } = options;
  const connected = connect(path, durability, hostClock ? thisHost() : undefined);
  if (connected.tag !== "connected") return connected;
  const { connection } = connected;
  const id = String(connection.db.prepare("SELECT id FROM ledger").get()?.id);
  const { anchor } = connection;
  return { tag: "opened", opened: { id, anchor }, engine: engineOn(connection, hostClock) };
}

export function engineOn({ db, file, anchor }: Connection, hostClock: boolean): Engine {
  const tables = tablesOf(db);
  const { tenants, lookup, operations, payloads, lanes, effects } = tables;
  const prune = pruneOf(db, tables);
  const extent = db.prepare("SELECT sequence, folded FROM ledger");
  const identity = identityOf(file);
  const transactor = transactorOf({
    db,
    boot: hostClock ? anchor.boot : undefined,
    onBegin(extent) {
      payloads.begin();
      lookup.catchUp(extent);
    },
    onCommit: lookup.advance,
    onRollback() {
      tenants.forget();
      lookup.forget();
    },
    run: (job, turn) => (job.kind === "prune" ? prune(job, turn) : write(tables, job, turn)),
    check() {
      // A file that was deleted still takes writes, and loses them all.
      if (identityOf(file) !== identity) throw new Error("The ledger's file was moved or removed.");
    },
  });

  function extentNow(): Extent {
    const { sequence, folded } = extent.get() ?? {};
    return { sequence: Number(sequence), folded: Number(folded) };
  }

  return {
    commit: transactor.commit,

    read(place) {
      const tenant = tenants.find(place.tenant);
      if (tenant === undefined) return undefined;
      lookup.catchUp(extentNow());
      const lying = operations.find(place, tenant);
      return lying && operations.whole(lying);
    },

    readLane(name, lane) {
      const tenant = tenants.find(name);
      return tenant === undefined ? undefined : lanes.find(tenant, lane);
    },

    ownerOf(name, service, effect) {
      const tenant = tenants.find(name);
      if (tenant === undefined) return undefined;
      return effects.ownerOf({ tenant: name, service, effect }, tenant);
    },

    scan: scanOf(db, tables),

    sequence: () => extentNow().sequence,

    checkpoint: () => db.exec("PRAGMA wal_checkpoint(TRUNCATE)"),

    close: () => db.close(),
  };
}

function write(tables: Tables, job: Exclude<Job, { kind: "prune" }>, turn: Turn): Value<Job> {
  if (job.kind === "swap") return swap(tables, job, turn);
  const { tenants, effects } = tables;
  const tenant = tenants.ensure(job.tenant);
  const owner = effects.ownerOf(job, tenant);
  if (owner !== undefined) return owner;
  effects.give(job, tenant, job.owner);
  return job.owner;
}
