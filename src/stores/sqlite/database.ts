/**
 * An open database: the statements that read and change the ledger, and the transaction that commits
 * many changes with one sync to disk.
 *
 * Nothing here waits. `write-queue.ts` decides when to commit, and tries again if another process writes.
 *
 * @module
 */

import { packRecord } from "../../ledger/codec/record-text.ts";
import { NO_LANE } from "../../ledger/lane.ts";
import { hasPayload, pruneAs, wipePayloads } from "../../ledger/prune.ts";
import { pruneLimit, rowOf } from "../../ledger/query.ts";
import { isOpen, type OperationRecord, type Stored } from "../../ledger/record.ts";
import type { Change, PruneQuery, Store, StoredLane, Swapped } from "../../ledger/store.ts";
import type { Anchor } from "./boot-clock.ts";
import type { Connection } from "./connect.ts";
import { transactionIn } from "./driver.ts";
import { identityOf } from "./file-safety.ts";
import { listIn, storedOf } from "./list.ts";
import { OF_ID, STAGE } from "./schema.ts";
import type { Job } from "./write-queue.ts";

export interface Database {
  readonly anchor: Anchor | undefined;
  /** Which ledger this is, and the last sequence given to a change. */
  identify(): { readonly id: string; readonly sequence: number };
  find(tenant: string, id: string): Stored | undefined;
  findLane(tenant: string, name: string): StoredLane | undefined;
  ownerOf(tenant: string, service: string, effect: string): string | undefined;
  /** All jobs in one transaction, at the store's time `now`. Only jobs may call `swap`, `own` and `prune`. */
  commit(jobs: readonly Job[], now: number): readonly unknown[];
  /** `text` is the packed record of the change. */
  swap(change: Change, text: string | undefined): Swapped;
  own(tenant: string, service: string, effect: string, id: string): string;
  /** Returns what it has changed, the oldest first. The engine asks for few at a time: all of it is one transaction. */
  prune(query: PruneQuery): readonly Change[];
  readonly list: Store["list"];
  /** Removes what was wiped from the write-ahead log too, unless another connection reads it. */
  emptyLog(): void;
  close(): void;
}

export function databaseOn({ db, file, anchor }: Connection): Database {
  const transaction = transactionIn(db);
  const ledger = db.prepare("SELECT id, sequence, boot FROM ledger");
  const advance = db.prepare("UPDATE ledger SET sequence = ?, now = max(now, ?)");
  const select = db.prepare(`SELECT version, lease, text FROM operation WHERE ${OF_ID}`);
  const insert = db.prepare(
    `INSERT INTO operation
       (seq, version, tenant, id, lease, stage, settled_at, scope, resource, text)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // Not scope and resource: they are part of what identifies an operation and never change.
  const set = "SET version = ?, lease = ?, stage = ?, settled_at = ?, text = ?";
  const update = db.prepare(`UPDATE operation ${set} WHERE ${OF_ID} AND version = ?`);
  const updateFirst = db.prepare(
    `UPDATE operation ${set} WHERE seq = ? AND version = seq AND id = ? AND tenant = ?`,
  );
  const remove = db.prepare(`DELETE FROM operation WHERE ${OF_ID} AND version = ?`);
  // Two ranges of the index, each with the oldest first: no row is read that is not returned.
  const oldest = db.prepare(
    `SELECT * FROM operation WHERE tenant = ? AND (stage = ${STAGE.wiped} AND settled_at < ?
       OR stage = ${STAGE.settled} AND settled_at < ?) LIMIT ?`,
  );
  const selectLane = db.prepare("SELECT text, version FROM lane WHERE tenant = ? AND name = ?");
  const putLane = db.prepare("REPLACE INTO lane (tenant, name, text, version) VALUES (?, ?, ?, ?)");
  const removeLane = db.prepare("DELETE FROM lane WHERE tenant = ? AND name = ?");
  const selectOwner = db.prepare(
    "SELECT owner FROM effect WHERE tenant = ? AND service = ? AND effect = ?",
  );
  const insertOwner = db.prepare(
    `INSERT INTO effect (tenant, service, effect, owner) VALUES (?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const removeOwner = db.prepare("DELETE FROM effect WHERE tenant = ? AND owner = ?");
  const identity = identityOf(file);

  /** Of the transaction that is running. */
  let now = 0;
  let sequence = 0;

  function find(tenant: string, id: string): Stored | undefined {
    const row = select.get(id, id, tenant);
    // Under the names that were asked for: Node up to 24.0 cuts a text at a NUL character when it is read.
    return row && storedOf({ ...row, tenant, id });
  }

  function findLane(tenant: string, name: string): StoredLane | undefined {
    const row = selectLane.get(tenant, name);
    return row && { lane: JSON.parse(String(row.text)), version: Number(row.version) };
  }

  function ownerOf(tenant: string, service: string, effect: string): string | undefined {
    const row = selectOwner.get(tenant, service, effect);
    return row && String(row.owner);
  }

  function swap(change: Change, text: string | undefined): Swapped {
    const { tenant, id, expect, record, lane } = change;
    const there = lane && (findLane(tenant, lane.name) ?? NO_LANE);
    const lease = record ? leaseAfter(change) : null;
    if (there?.version !== lane?.expect || !write(change, text, lease)) {
      const current = find(tenant, id);
      const isOther = (current?.version ?? 0) !== expect;
      return { ok: false, current, now, ...(there && !isOther && { lane: there }) };
    }
    sequence += 1;
    if (lane?.lane) putLane.run(tenant, lane.name, JSON.stringify(lane.lane), sequence);
    else if (lane) removeLane.run(tenant, lane.name);
    const version = record ? sequence : 0;
    return { ok: true, version, leaseUntil: lease ?? undefined, now, sequence };
  }

  function leaseAfter({ tenant, id, lease }: Change): number | null {
    if (lease === "keep") return find(tenant, id)?.leaseUntil ?? null;
    return lease === "none" ? null : now + lease;
  }

  /** Returns whether the version was `expect`; with 0, nothing is there. */
  function write(change: Change, text: string | undefined, lease: number | null): boolean {
    const { tenant, id, expect, record } = change;
    // Asked on its own: an INSERT that selects from the table it writes to takes twice the time of both.
    if (expect === 0 && select.get(id, id, tenant)) return false;
    if (!record || text === undefined) {
      return expect === 0 || removeWithEffects(tenant, id, expect);
    }
    const stage = stageOf(record);
    const at = stage === STAGE.open ? null : record.stateAt;
    const next = sequence + 1;
    if (expect === 0) {
      const { scope, resource = null } = record;
      // The sequence of the first write is the place in the order of creation.
      insert.run(next, next, tenant, id, lease, stage, at, scope, resource, text);
      return true;
    }
    // What was written once, as each claim is, has its version as its place: no index needs to be searched.
    return (
      updateFirst.run(next, lease, stage, at, text, expect, id, tenant).changes === 1 ||
      update.run(next, lease, stage, at, text, id, id, tenant, expect).changes === 1
    );
  }

  function removeWithEffects(tenant: string, id: string, expect: number): boolean {
    if (remove.run(id, id, tenant, expect).changes === 0) return false;
    removeOwner.run(tenant, id);
    return true;
  }

  function prune(query: PruneQuery): readonly Change[] {
    const { tenant, payloadsOlderThanMs = Infinity, tombstonesOlderThanMs = Infinity } = query;
    const before = (ms: number) => now - Math.max(ms, 0);
    const settled = before(Math.min(payloadsOlderThanMs, tombstonesOlderThanMs));
    const limit = pruneLimit(query.limit);
    const rows = oldest.all(tenant, before(tombstonesOlderThanMs), settled, limit);
    return rows.flatMap((row) => {
      const { id, stored } = rowOf(String(row.id), () => storedOf(row));
      const fate = stored && pruneAs(stored.record, query, now);
      if (!fate || fate === "keep") return [];
      const record = fate === "wipe" ? wipePayloads(stored.record) : undefined;
      const change: Change = { tenant, id, expect: stored.version, record, lease: "keep" };
      return swap(change, record && packRecord(record)).ok ? change : [];
    });
  }

  return {
    anchor,
    find,
    findLane,
    ownerOf,
    prune,
    list: listIn(db),
    emptyLog: () => db.exec("PRAGMA wal_checkpoint(TRUNCATE)"),
    close: () => db.close(),
    swap,

    identify() {
      const { id, sequence } = ledger.get() ?? {};
      return { id: String(id), sequence: Number(sequence) };
    },

    own(tenant, service, effect, id) {
      insertOwner.run(tenant, service, effect, id);
      return ownerOf(tenant, service, effect) ?? id;
    },

    commit(jobs, time) {
      const values = transaction(() => {
        const row = ledger.get();
        if (anchor && row?.boot !== anchor.boot) {
          throw new Error("The ledger's file is in use on another machine.");
        }
        const before = Number(row?.sequence);
        sequence = before;
        now = time;
        const values = jobs.map((job) => job());
        // Once for all changes; a transaction that writes nothing costs no sync.
        if (sequence > before) advance.run(sequence, now);
        return values;
      });
      // A file that was deleted still takes writes, and loses them all: nothing is acknowledged.
      if (identityOf(file) !== identity) throw new Error("The ledger's file was moved or removed.");
      return values;
    },
  };
}

function stageOf(record: OperationRecord): number {
  if (isOpen(record.state)) return STAGE.open;
  return hasPayload(record) ? STAGE.settled : STAGE.wiped;
}
