/**
 * What `node:sqlite` leaves to its users: opening it, transactions, the value of a setting, the kind of an error.
 *
 * @module
 */

import type { DatabaseSync, DatabaseSyncOptions } from "node:sqlite";
import { peek } from "../../lang/peek.ts";

/**
 * Not by `import`: test runners that resolve modules themselves look for a package "sqlite". Only a Node that
 * was built without it has none.
 */
export function openDatabase(file: string | URL, options: DatabaseSyncOptions = {}): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  return new DatabaseSync(file, options);
}

/** Runs work under the write lock: all that it writes is committed, or nothing. */
export function transactionIn(db: DatabaseSync): <T>(work: () => T) => T {
  // Prepared: `exec` parses them anew each time, which is a third of an empty transaction.
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  return (work) => {
    begin.run();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      // Some errors, such as a full disk, have already rolled back.
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  };
}

/** The value of a pragma. The name is never a caller's. */
export const settingOf = (db: DatabaseSync, name: string): unknown =>
  Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];

/** SQLite's result code, if it is an error of SQLite. An extended code is reduced to its primary one. */
export const resultCode = (error: unknown): number => Number(peek(error, "errcode") ?? 0) & 0xff;

/** BUSY, LOCKED, and PROTOCOL: two connections raced for the write-ahead log. */
const LOCK_CODES: readonly number[] = [5, 6, 15];

/** Another connection has the lock; a later try can succeed. */
export const isBusy = (error: unknown): boolean => LOCK_CODES.includes(resultCode(error));
