/**
 * Checks the database before it is trusted with a ledger: whether it can keep one, where the tables
 * are, and what it survives.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Incarnation, StorePromise } from "../../ledger/store.ts";
import { type Connection, type Session, sqlStateOf } from "./client.ts";
import { CLOCK, LAYOUT, type Location, SERVER, type Tables, tablesAt } from "./schema.ts";

/** `gen_random_uuid` came with it. */
const OLDEST_SERVER = 130_000;
const NO_SUCH_TABLE = "42P01";
const NO_SUCH_SCHEMA = "3F000";

const SETTINGS = `SELECT current_setting('server_version_num'), pg_is_in_recovery()::text,
  current_setting('fsync'), current_setting('synchronous_commit'),
  current_setting('synchronous_standby_names'),
  (SELECT count(*)::text FROM pg_stat_replication r WHERE r.state IS DISTINCT FROM 'backup'
    AND NOT EXISTS (SELECT 1 FROM pg_replication_slots s
      WHERE s.active_pid = r.pid AND s.slot_type = 'logical')),
  (SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = to_regclass($1::text)),
  (SELECT c.relpersistence::text FROM pg_class c WHERE c.oid = to_regclass($1::text)),
  (SELECT count(*)::text FROM pg_index i JOIN pg_attribute a
    ON a.attrelid = i.indrelid AND a.attname = 'key' AND i.indkey::text = a.attnum::text
    WHERE i.indrelid IN (to_regclass($1::text), to_regclass($2::text), to_regclass($3::text))
      AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL)`;

/** Operations, lanes and effects: two rows of one key would be two claims of one operation. */
const UNIQUE_KEYS = 3;

export interface Checked {
  /** With the schema in which the tables were found, so that no search path can lead elsewhere. */
  readonly tables: Tables;
  readonly promise: StorePromise;
}

export async function checkDatabase(
  session: Session,
  location: Location,
  accepted: boolean,
): Promise<Checked> {
  const { operations, lanes, effects } = tablesAt(location);
  const [row] = await session.run({ text: SETTINGS }, [operations, lanes, effects]);
  const [version, isReplica, fsync, commits, standbys, copies, ...located] = row ?? [];
  const [schema, persistence, uniqueKeys] = located;
  if (Number(version) < OLDEST_SERVER) refuse("is connected to a Postgres older than 13.");
  if (isReplica === "true") refuse("is connected to a replica; pass a pool of the primary.");
  if (typeof schema !== "string") throw missingTables();
  if (Number(uniqueKeys) !== UNIQUE_KEYS) {
    refuse("is connected to a ledger that lacks a unique index on its keys; do not write to it.");
  }
  const promise = promiseOf({ fsync, commits, standbys, copies, persistence }, accepted);
  return { tables: tablesAt({ schema, table: location.table }), promise };
}

/**
 * Which ledger this is. An older copy put back has the same id and a lower sequence. After a crash or
 * a failover the sequence may be up to 32 ahead of what was handed out, since Postgres logs that many
 * in advance: so on another timeline the last change itself is looked for.
 */
export async function readIncarnation(session: Session, tables: Tables): Promise<Incarnation> {
  const text = `SELECT l.id::text, l.layout::text, ${CLOCK}::text,
    (CASE WHEN s.is_called THEN s.last_value ELSE 0 END)::text, ${SERVER}
    FROM ${tables.ledger} l CROSS JOIN ${tables.sequence} s`;
  const rows = await session.run({ text }, []).catch((error: unknown) => {
    const state = sqlStateOf(error);
    throw state === NO_SUCH_TABLE || state === NO_SUCH_SCHEMA ? missingTables() : error;
  });
  const [id, layout, now, sequence, server] = rows[0] ?? [];
  if (typeof id !== "string") throw missingTables();
  if (Number(layout) < LAYOUT) refuse("holds tables of an older holdfire; run migrate() once.");
  if (Number(layout) > LAYOUT) refuse("holds tables of a newer holdfire; update this one.");
  return { id, sequence: Number(sequence), now: Number(now), server: server ?? undefined };
}

/** The cluster and its timeline, which the name of the WAL file tells as soon as a standby is promoted. */
const TIMELINE = `SELECT (SELECT system_identifier FROM pg_control_system())::text || '.' ||
  left(pg_walfile_name(pg_current_wal_lsn()), 8)`;

/** Nothing where a managed server does not tell. Not for a caller's transaction, which the error would end. */
export async function readTimeline(connection: Connection): Promise<string | undefined> {
  const rows = await connection.run({ text: TIMELINE }, []).catch(() => []);
  return rows[0]?.[0] ?? undefined;
}

/** Whether the change with this number was not lost. It may have been removed since, which looks the same. */
export async function holdsChange(
  session: Session,
  { operations, lanes }: Tables,
  sequence: number,
): Promise<boolean> {
  const isIn = (table: string) => `EXISTS (SELECT 1 FROM ${table} WHERE version = $1::text::int8)`;
  const text = `SELECT (${isIn(operations)} OR ${isIn(lanes)})::text`;
  const [row] = await session.run({ text }, [String(sequence)]);
  return row?.[0] === "true";
}

function refuse(rule: string): never {
  throw new InvalidInputError("postgres.pool", rule);
}

const missingTables = (): Error =>
  new InvalidInputError(
    "postgres.pool",
    "is connected to a database without the tables of the ledger. Run `await store.migrate()`, pass `migrate: true`, or run the SQL that `migrationSql()` returns.",
  );

type Setting = string | null | undefined;

function promiseOf(
  settings: Readonly<Record<"fsync" | "commits" | "standbys" | "copies" | "persistence", Setting>>,
  forgettingAccepted: boolean,
): StorePromise {
  const { fsync, commits, standbys, copies, persistence } = settings;
  // `remote_write` and `local` do not wait until a standby has it on disk.
  const isCopied = standbys !== "" && (commits === "on" || commits === "remote_apply");
  const doubts: string[] = [];
  if (fsync === "off") doubts.push("a power cut loses what was not synced (fsync)");
  if (commits === "off") doubts.push("a crash loses the last commits (synchronous_commit)");
  if (persistence !== "p") doubts.push("its tables are not logged");
  const survives = doubts.length > 0 ? "process" : isCopied ? "host_loss" : "host";
  if (!isCopied && Number(copies) > 0) {
    doubts.push("a standby that lags may be promoted (synchronous_standby_names)");
  }
  const mayForget = doubts.length > 0;
  const text = mayForget
    ? `Kept in Postgres, which may forget: ${doubts.join("; ")}.`
    : isCopied
      ? "Kept in Postgres, on disk here and on a standby before it is acknowledged."
      : "Kept in Postgres, on disk before it is acknowledged; a lost disk is a lost ledger.";
  return { survives, mayForget, forgettingAccepted, text };
}

/** Before the database was asked. */
export const unasked = (forgettingAccepted: boolean): StorePromise => ({
  survives: "nothing",
  mayForget: true,
  forgettingAccepted,
  text: "Not opened yet: it is not known what this Postgres survives.",
});
