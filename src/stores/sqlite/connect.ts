/**
 * Opens the database: looks before it touches, makes or migrates the schema, and reads back every
 * setting that the promise rests on.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { type Anchor, anchorFor, type Host } from "./boot-clock.ts";
import { failureOf, fileProblem, isBusy } from "./failure.ts";
import { makePlace, placeProblem } from "./place.ts";
import { APPLICATION_ID, applicationOf, migrate, STEPS, schemaProblem } from "./schema.ts";

/** What a commit outlives: the host's loss of power, or the process alone. */
export type Durability = "full" | "process";

export interface Connection {
  readonly db: DatabaseSync;
  /** The file's true path. */
  readonly file: string;
  readonly anchor: Anchor;
}

export type Connected =
  | { readonly tag: "connected"; readonly connection: Connection }
  /** Another process makes or migrates it now. */
  | { readonly tag: "busy" }
  /** What is wrong with the path. */
  | { readonly tag: "refused"; readonly rule: string };

/** `host` is what the clock goes by; without it, the clock is the caller's own. */
export function connect(path: string, durability: Durability, host: Host | undefined): Connected {
  let db: DatabaseSync | undefined;
  try {
    const problem = placeProblem(path) ?? contentProblem(path);
    if (problem !== undefined) return { tag: "refused", rule: problem };
    const file = makePlace(path);
    db = new DatabaseSync(file);
    const rule = schemaProblem(db, STEPS) ?? prepareDatabase(db, durability);
    if (rule === undefined) {
      return { tag: "connected", connection: { db, file, anchor: anchorOf(db, host) } };
    }
    db.close();
    return { tag: "refused", rule };
  } catch (error) {
    db?.close();
    if (isBusy(failureOf(error))) return { tag: "busy" };
    const rule = fileProblem(error);
    if (rule === undefined) throw error;
    return { tag: "refused", rule };
  }
}

/**
 * What is wrong with a file that is there, found without a lock, a log or a write. Never with a file
 * handle of our own: closing one would release the locks of this process's other connections.
 */
function contentProblem(path: string): string | undefined {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  // With a journal beside it, only SQLite can tell what is in it.
  if (size === 0 || existsSync(`${path}-journal`)) return undefined;
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(url, { readOnly: true });
    return applicationOf(db) === APPLICATION_ID ? undefined : "is the database of another program.";
  } catch (error) {
    const rule = fileProblem(error);
    if (rule === undefined) throw error;
    return rule;
  } finally {
    db?.close();
  }
}

/**
 * Settings go through `exec`: a *prepared* pragma takes effect when it is prepared, and running it
 * does nothing. No busy timeout, ever: SQLite would wait by blocking the event loop.
 */
function prepareDatabase(db: DatabaseSync, durability: Durability): string | undefined {
  const level = durability === "full" ? 2 : 1;
  db.exec("PRAGMA busy_timeout = 0; PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON");
  // Made before the log is switched on: the file itself says at once whose it is.
  migrate(db, STEPS, () => {
    db.prepare(
      "INSERT INTO ledger (id, sequence, boot, base, now, folded) VALUES (?, 0, 'none yet', 0, 0, 0)",
    ).run(randomUUID());
  });
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${level};
    PRAGMA fullfsync = ${durability === "full" ? "ON" : "OFF"};
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA cache_size = -16000;
  `);
  if (settingOf(db, "journal_mode") !== "wal") {
    return "must be on a disk that can hold a write-ahead log. A network share cannot.";
  }
  const isAsAsked =
    settingOf(db, "synchronous") === level &&
    settingOf(db, "secure_delete") === 1 &&
    settingOf(db, "busy_timeout") === 0;
  return isAsAsked ? undefined : "is on a SQLite that does not take its settings.";
}

/** A pragma's value. The name is ours, never a caller's. */
export function settingOf(db: DatabaseSync, name: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

/** The clock's anchor, made anew after a boot. Then leases have lapsed: their owners are gone. */
function anchorOf(db: DatabaseSync, host: Host | undefined): Anchor {
  const known = () => {
    const { boot, base, now } = db.prepare("SELECT boot, base, now FROM ledger").get() ?? {};
    return { boot: String(boot), base: Number(base), now: Number(now) };
  };
  const first = known();
  if (!host || anchorFor(first, first.now, host).anchor === first) return first;
  db.exec("BEGIN IMMEDIATE");
  try {
    const current = known();
    const { anchor, rebooted } = anchorFor(current, current.now, host);
    const now = Math.floor(anchor.base + host.monotonic);
    db.prepare("UPDATE ledger SET boot = ?, base = ?, now = max(now, ?)").run(
      anchor.boot,
      anchor.base,
      now,
    );
    if (rebooted) db.prepare(LAPSE).run(now, now);
    db.exec("COMMIT");
    return anchor;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

const LAPSE = `
  UPDATE operation INDEXED BY operation_stage SET lease = ?
  WHERE tenant IN (SELECT tenant FROM tenant) AND stage = 0 AND lease > ?`;
