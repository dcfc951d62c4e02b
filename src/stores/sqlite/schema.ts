/**
 * The tables, and how an older database becomes one of today.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";

/** Marks a file as a ledger of ours: "hold". */
export const APPLICATION_ID = 0x686f6c64;

/**
 * Each step brings the schema up by one version; a new database takes them all. They are history:
 * add a step, never change one.
 *
 * - `operation` is appended to in the order of creation.
 * - `place` finds its rows by hash, but for those younger than `ledger.folded`.
 * - `operation_stage` answers for three: what is open, in order; what has a payload to wipe, and what
 *   is a tombstone, by age.
 * - `payload` is appended to in the order of settling. A middle-sized one is cut up: whole rows of
 *   1 KB or 2 KB would leave a quarter to half of each page empty.
 */
export const STEPS: readonly string[] = [
  `
  CREATE TABLE ledger (
    id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    boot TEXT NOT NULL,
    base INTEGER NOT NULL,
    now INTEGER NOT NULL,
    folded INTEGER NOT NULL
  );
  CREATE TABLE tenant (tenant INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE operation (
    seq INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL,
    tenant INTEGER NOT NULL,
    stage INTEGER NOT NULL,
    settled_at INTEGER,
    version INTEGER NOT NULL,
    lease INTEGER,
    resource INTEGER,
    payload INTEGER,
    parts INTEGER NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL
  );
  CREATE INDEX operation_stage ON operation (tenant, stage, settled_at);
  CREATE INDEX operation_resource ON operation (resource) WHERE resource IS NOT NULL;
  CREATE TABLE place (hash INTEGER, row INTEGER, PRIMARY KEY (hash, row)) WITHOUT ROWID;
  CREATE TABLE payload (part INTEGER PRIMARY KEY, data BLOB NOT NULL);
  CREATE TABLE lane (
    tenant INTEGER NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
  ) WITHOUT ROWID;
  CREATE TABLE effect (
    seq INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL,
    owner_hash INTEGER NOT NULL,
    tenant INTEGER NOT NULL,
    service TEXT NOT NULL,
    effect TEXT NOT NULL,
    owner TEXT NOT NULL
  );
  CREATE INDEX effect_hash ON effect (hash);
  CREATE INDEX effect_owner ON effect (owner_hash);
  `,
];

export const versionOf = (db: DatabaseSync): number =>
  Number(db.prepare("PRAGMA user_version").get()?.user_version);

export const applicationOf = (db: DatabaseSync): number =>
  Number(db.prepare("PRAGMA application_id").get()?.application_id);

/** Why this database cannot be the ledger; `undefined` if it is one, or empty. */
export function schemaProblem(db: DatabaseSync, steps: readonly string[]): string | undefined {
  const application = applicationOf(db);
  const tables = Number(db.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()?.tables);
  if (application !== APPLICATION_ID && (application !== 0 || tables > 0)) {
    return "is the database of another program.";
  }
  if (versionOf(db) > steps.length) return "was written by a newer version of holdfire.";
  return undefined;
}

/** Takes the steps that are missing, all or none. `prepare` runs once, when the ledger is made. */
export function migrate(db: DatabaseSync, steps: readonly string[], prepare: () => void): void {
  if (versionOf(db) >= steps.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Somebody may have been faster.
    const version = versionOf(db);
    for (const step of steps.slice(version)) db.exec(step);
    if (version === 0) prepare();
    if (version < steps.length) {
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${steps.length}`);
    }
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
