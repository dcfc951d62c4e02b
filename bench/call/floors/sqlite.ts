/**
 * The least that a ledger on SQLite does, written by hand: a claim and a settle with full sync, and
 * nothing else. All callers of one turn of the event loop share a commit, or each has its own.
 *
 * @module
 */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { OpenGuard } from "../guard.ts";
import { hashed, inOrder, LEASE_MS, OWNER, receiptIn, rowOf } from "./row.ts";

type Write = (change: () => void) => Promise<void>;

const floor =
  (writerOf: (db: DatabaseSync) => Write, keyOf = inOrder): OpenGuard =>
  async (effect, { folder, name }) => {
    const db = new DatabaseSync(join(folder, `${name}.db`), { timeout: 60_000 });
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS ledger
        (key TEXT PRIMARY KEY, owner TEXT, lease INTEGER, record TEXT)`);
    const write = writerOf(db);
    const read = db.prepare("SELECT record FROM ledger WHERE key = ? AND owner IS NULL");
    const insert = db.prepare("INSERT INTO ledger (key, owner, lease, record) VALUES (?, ?, ?, ?)");
    const update = db.prepare(
      "UPDATE ledger SET owner = NULL, lease = NULL, record = ? WHERE key = ? AND owner = ?",
    );
    return {
      async call(order) {
        const row = rowOf(order, keyOf);
        const known = read.get(row.key) as { readonly record: string } | undefined;
        if (known) return receiptIn(known.record);
        await write(() => insert.run(row.key, OWNER, Date.now() + LEASE_MS, row.claimed));
        const receipt = await effect(order);
        await write(() => update.run(row.settled(receipt), row.key, OWNER));
        return receipt;
      },
      close: async () => db.close(),
    };
  };

/** All that is asked for in one turn of the event loop, in one commit. */
function groupedOn(db: DatabaseSync): Write {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  let queue: { readonly change: () => void; readonly done: () => void }[] = [];
  const flush = (): void => {
    const batch = queue;
    queue = [];
    begin.run();
    for (const { change } of batch) change();
    commit.run();
    for (const { done } of batch) done();
  };
  return (change) =>
    new Promise((done) => {
      if (queue.push({ change, done }) === 1) setImmediate(flush);
    });
}

export const grouped: OpenGuard = floor(groupedOn);

/** What the same costs where a key is a hash: each row is in another place of the index. */
export const groupedHashed: OpenGuard = floor(groupedOn, hashed);

/** As it is mostly written: each statement is a commit of its own. */
export const perCall: OpenGuard = floor(() => async (change) => change());
