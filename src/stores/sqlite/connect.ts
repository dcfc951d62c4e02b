/**
 * Opens the database: checks the file before it touches it, makes or migrates the schema, and reads
 * back every setting that the store's promise depends on.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { InvalidInputError } from "../../errors.ts";
import { peek } from "../../lang/peek.ts";
import { type Anchor, anchorFor, type Host } from "./boot-clock.ts";
import { openDatabase, resultCode, settingOf, transactionIn } from "./driver.ts";
import { ELSEWHERE, makeFile, placeProblem } from "./file-safety.ts";
import { migrate, STAGE, STEPS, schemaProblem } from "./schema.ts";

/** What a commit survives: a loss of power, or only the end of the process. */
export type Durability = "full" | "process";

export interface Connection {
  readonly db: DatabaseSync;
  /** The file's real path. */
  readonly file: string;
  /** Of the host's clock; `undefined` if the caller has a clock of its own. */
  readonly anchor: Anchor | undefined;
}

/**
 * Throws `InvalidInputError` if the path cannot be used, and SQLite's own error if another process has
 * the lock. `host` is what the clock is read from; without it, the caller has a clock of its own.
 */
export function connect(path: string, durability: Durability, host: Host | undefined): Connection {
  let db: DatabaseSync | undefined;
  try {
    refuse(path, placeProblem(path) ?? contentProblem(path));
    const file = makeFile(path);
    db = openDatabase(file);
    refuse(path, schemaProblem(db, STEPS) ?? configure(db, durability));
    return { db, file, anchor: host && anchorOf(db, host) };
  } catch (error) {
    db?.close();
    refuse(path, fileProblem(error, path));
    throw error;
  }
}

/** What is wrong is said of the file: the default path stands in no program. */
function refuse(path: string, why: string | undefined): void {
  if (why !== undefined) throw new InvalidInputError("sqlite.path", `"${path}" ${why}`);
}

/**
 * What is wrong with an existing file, found without a lock, a log or a write. Not with a file handle
 * of our own: closing one would release the locks of this process's other connections.
 *
 * A checkpoint writes the header before the pages that it counts, and a process can be killed in
 * between: whether a file that looks corrupt is so is left to the real opening, which has the log.
 */
function contentProblem(path: string): string | undefined {
  // With a journal beside it, only SQLite can tell what is in it.
  if (!existsSync(path) || existsSync(`${path}-journal`)) return undefined;
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  const db = openDatabase(url, { readOnly: true });
  try {
    // Only the header: other pages may be half written by a checkpoint of another process.
    return schemaProblem(db, STEPS);
  } catch (error) {
    if (resultCode(error) === CORRUPT) return undefined;
    throw error;
  } finally {
    db.close();
  }
}

/**
 * Settings go through `exec`: a *prepared* pragma takes effect when it is prepared, and running it
 * does nothing. The busy timeout is 0 because SQLite would wait by blocking the event loop. The cache of pages stays as
 * small as SQLite makes it: a commit that has split a page looks through all of it.
 */
function configure(db: DatabaseSync, durability: Durability): string | undefined {
  const level = durability === "full" ? 2 : 1;
  db.exec("PRAGMA busy_timeout = 0; PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON");
  // Before the log is switched on, so that the file itself has the mark of the application at once.
  migrate(db, STEPS);
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${level};
    PRAGMA fullfsync = ${durability === "full" ? "ON" : "OFF"};
  `);
  if (settingOf(db, "journal_mode") !== "wal") {
    return "must be on a disk that can hold a write-ahead log. A network share cannot.";
  }
  const isAsAsked =
    settingOf(db, "synchronous") === level &&
    settingOf(db, "secure_delete") === 1 &&
    settingOf(db, "busy_timeout") === 0;
  return isAsAsked ? undefined : "is opened by a SQLite that ignores its settings.";
}

/** The clock's anchor, made anew after a boot. Then all leases have ended: their owners are gone. */
function anchorOf(db: DatabaseSync, host: Host): Anchor {
  const known = () => {
    const { boot, base, now } = db.prepare("SELECT boot, base, now FROM ledger").get() ?? {};
    return { boot: String(boot), base: Number(base), now: Number(now) };
  };
  const first = known();
  if (anchorFor(first, first.now, host).anchor === first) return first;
  return transactionIn(db)(() => {
    // Read again under the lock: another process may have set it.
    const current = known();
    const { anchor, rebooted } = anchorFor(current, current.now, host);
    const now = Math.floor(anchor.base + host.monotonic);
    const update = "UPDATE ledger SET boot = ?, base = ?, now = max(now, ?)";
    db.prepare(update).run(anchor.boot, anchor.base, now);
    const endLeases = `UPDATE operation SET lease = ? WHERE stage = ${STAGE.open} AND lease > ?`;
    if (rebooted) db.prepare(endLeases).run(now, now);
    return anchor;
  });
}

/** What the file system says of a bad path; a full disk is not among them. */
const BAD_PATH = /^(?:EACCES|EPERM|EROFS|ENOTDIR|EEXIST|ELOOP|ENAMETOOLONG)$/;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** What is wrong with the file itself, for people; `undefined` if it is something else. */
function fileProblem(error: unknown, path: string): string | undefined {
  const code = String(peek(error, "code"));
  if (code === "ERR_ACCESS_DENIED") {
    // The folder has the ledger, its log and the witness. Without the star, Node means folders that are there when it starts.
    const folder = join(dirname(path), "*");
    return `is kept from this process by Node's permissions. Start it with --allow-fs-read="${folder}" and --allow-fs-write="${folder}".`;
  }
  if (BAD_PATH.test(code)) return `cannot be made (${code}). ${ELSEWHERE}`;
  return [CORRUPT, NOT_A_DATABASE].includes(resultCode(error))
    ? "is not a SQLite database, or a damaged one. Move it away, or restore a copy."
    : undefined;
}
