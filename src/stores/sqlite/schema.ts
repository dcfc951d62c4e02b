/**
 * The tables of the ledger, and how a database of an older version is brought up to date.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import { settingOf, transactionIn } from "./driver.ts";

/** Marks the file as a ledger of holdfire: "hold". */
export const APPLICATION_ID = 0x686f6c64;

/** The version that the first step makes. Earlier ones were written before holdfire 0.2, and are refused. */
const FIRST_VERSION = 4;

/**
 * Open operations are listed, settled ones have payloads to wipe, wiped ones have none. In this order: the ones settled
 * last and the open ones of a tenant are then neighbours in the index if it is the only one, and a settle changes one page in
 * place of two.
 */
export const STAGE = { wiped: 0, settled: 1, open: 2 } as const;

/**
 * Each step raises the version of the schema by one; a new database takes them all. Add a step, never
 * change one.
 *
 * - `ledger` has one row: which ledger this is, how far it has come, and its clock.
 * - `operation.seq` is the order of creation, so rows are appended. `text` is the whole record; the
 *   other columns are what is compared and what indices need.
 * - `operation_stage` finds what is open, in the order of creation, and what can be pruned, by age.
 * - `operation_id` has only the end of an id. Ids are hashes, so each claim writes another page of it. An index
 *   of whole ids has more pages to write and read: among 200,000 rows a call takes 40 % more processor time.
 */
export const STEPS: readonly string[] = [
  `
  CREATE TABLE ledger (
    id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    boot TEXT NOT NULL,
    base INTEGER NOT NULL,
    now INTEGER NOT NULL
  );
  INSERT INTO ledger VALUES (lower(hex(randomblob(16))), 0, 'none', 0, 0);
  CREATE TABLE operation (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    lease INTEGER,
    stage INTEGER NOT NULL,
    settled_at INTEGER,
    scope TEXT NOT NULL,
    resource TEXT,
    text TEXT NOT NULL
  );
  CREATE INDEX operation_id ON operation (substr(id, -8));
  CREATE INDEX operation_stage ON operation (stage, tenant, settled_at);
  CREATE INDEX operation_scope ON operation (tenant, scope);
  CREATE INDEX operation_resource ON operation (tenant, resource) WHERE resource IS NOT NULL;
  CREATE TABLE lane (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
  ) WITHOUT ROWID;
  CREATE TABLE effect (
    tenant TEXT NOT NULL,
    service TEXT NOT NULL,
    effect TEXT NOT NULL,
    owner TEXT NOT NULL,
    PRIMARY KEY (tenant, service, effect)
  ) WITHOUT ROWID;
  CREATE INDEX effect_owner ON effect (tenant, owner);
  `,
];

/** Takes id, id and tenant. SQLite cuts the id itself: it counts characters, JavaScript UTF-16 units. */
export const OF_ID = "substr(id, -8) = substr(?, -8) AND id = ? AND tenant = ?";

/** The version of a database that has taken these steps. */
export const versionAfter = (steps: readonly string[]): number => FIRST_VERSION - 1 + steps.length;

/** Why this database cannot be the ledger; `undefined` if it is one, or empty. */
export function schemaProblem(db: DatabaseSync, steps: readonly string[]): string | undefined {
  const isEmpty = settingOf(db, "page_count") === 0;
  if (!isEmpty && settingOf(db, "application_id") !== APPLICATION_ID) {
    return "is the database of another program.";
  }
  const version = Number(settingOf(db, "user_version"));
  if (version > 0 && version < FIRST_VERSION) {
    return "was written by an incompatible version of holdfire (0.1). Settle what is open with that version, then move the file away: a new one is made.";
  }
  return version > versionAfter(steps)
    ? "was written by a newer version of holdfire. Update holdfire."
    : undefined;
}

/** Takes the steps that are missing, all or none. */
export function migrate(db: DatabaseSync, steps: readonly string[]): void {
  const target = versionAfter(steps);
  const versionNow = () => Number(settingOf(db, "user_version"));
  if (versionNow() >= target) return;
  transactionIn(db)(() => {
    // Read again under the lock: another process may have migrated it.
    const version = versionNow();
    if (version >= target) return;
    const taken = version === 0 ? 0 : version - FIRST_VERSION + 1;
    for (const step of steps.slice(taken)) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${target}`);
  });
}
