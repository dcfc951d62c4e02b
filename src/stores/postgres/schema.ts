/**
 * The tables of the ledger: their names, and the SQL that makes them. It can be run again and again, by
 * `migrate()` or by a migration tool.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";

/** Raised when the tables change. Each layout adds statements to those before, and takes none away. */
export const LAYOUT = 1;

/** The database's clock, in whole milliseconds. It goes on within a statement. */
export const CLOCK = "floor(extract(epoch FROM clock_timestamp()) * 1000)::int8";

/** Which server this is, and since when it runs. A copy of it that was promoted runs since another time. */
export const SERVER = "extract(epoch FROM pg_postmaster_start_time())::text";

/** All who migrate take the same advisory lock, whatever the schema: migrations are rare. */
const LOCK = 4_712_350_211_905;

/** Short enough that what is added to it stays below the 63 bytes Postgres keeps of a name. */
const NAME = /^[a-z_][a-z0-9_]{0,40}$/;

/** What the user named. */
export interface Location {
  /** Not validated when the database itself named it. */
  readonly schema?: string | undefined;
  readonly table: string;
}

/** Quoted, with the schema in front where it is known: the only text that is written into a statement. */
export interface Tables {
  readonly operations: string;
  readonly lanes: string;
  readonly effects: string;
  readonly watches: string;
  readonly ledger: string;
  readonly sequence: string;
}

export function checkLocation(schema: unknown, table: unknown = "holdfire"): Location {
  return {
    schema: schema === undefined ? undefined : checkName(schema, "postgres.schema"),
    table: checkName(table, "postgres.table"),
  };
}

function checkName(value: unknown, path: string): string {
  if (typeof value === "string" && NAME.test(value)) return value;
  throw new InvalidInputError(
    path,
    "must be 1 to 41 lower-case letters, digits or underscores, and not begin with a digit.",
  );
}

export function tablesAt({ schema, table }: Location): Tables {
  const prefix = schema === undefined ? "" : `${quote(schema)}.`;
  const named = (thing: string): string => `${prefix}${quote(`${table}_${thing}`)}`;
  return {
    operations: named("operations"),
    lanes: named("lanes"),
    effects: named("effects"),
    watches: named("watches"),
    ledger: named("ledger"),
    sequence: named("sequence"),
  };
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** As a string in a statement: what `nextval` and `to_regnamespace` take. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/**
 * What `migrate()` runs. Postgres runs it as one transaction; of several processes that migrate at once
 * one works, and the others wait and then find everything there.
 *
 * The key of an operation is a hash of its tenant and id: 16 bytes whatever they are, and of equal
 * cost to insert wherever it falls, since the rows lie in the order they came in.
 *
 * `phase` is what lists and pruning search by: 0 open, 1 settled with its payload, 2 settled without.
 * It changes when an operation is settled, so that update cannot stay within its page (HOT); without
 * it, to find three open operations among five million settled ones would read them all. Rows are
 * packed full for the same reason: room kept beside them would never be used.
 *
 * `watches` has the operations that a process waits for. Only their changes are announced: every NOTIFY
 * takes one lock of the whole database until its transaction is on disk.
 */
export function scriptAt(location: Location): string {
  const { operations, lanes, effects, watches, ledger, sequence } = tablesAt(location);
  const index = (name: string): string => quote(`${location.table}_${name}`);
  return `SELECT pg_advisory_xact_lock(${LOCK});

${schemaScript(location.schema)}CREATE SEQUENCE IF NOT EXISTS ${sequence};

CREATE TABLE IF NOT EXISTS ${ledger} (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  id uuid NOT NULL,
  layout integer NOT NULL
);

CREATE TABLE IF NOT EXISTS ${operations} (
  key uuid PRIMARY KEY,
  seq bigint NOT NULL,
  version bigint NOT NULL,
  lease bigint,
  phase smallint NOT NULL,
  state_at double precision NOT NULL,
  state text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  tool text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  resource text COLLATE "C",
  record text COLLATE "C" NOT NULL,
  tenant_key bigint GENERATED ALWAYS AS (hashtextextended(tenant, 0)) STORED,
  scope_key bigint GENERATED ALWAYS AS (hashtextextended(scope, hashtextextended(tenant, 0))) STORED
);
CREATE INDEX IF NOT EXISTS ${index("operations_phase")} ON ${operations} (tenant_key, phase, seq);
CREATE INDEX IF NOT EXISTS ${index("operations_scope")} ON ${operations} (scope_key, seq);

CREATE TABLE IF NOT EXISTS ${lanes} (
  key uuid PRIMARY KEY,
  version bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL
);

CREATE TABLE IF NOT EXISTS ${effects} (
  key uuid PRIMARY KEY,
  operation uuid NOT NULL,
  id text COLLATE "C" NOT NULL
);
CREATE INDEX IF NOT EXISTS ${index("effects_owner")} ON ${effects} (operation);

CREATE UNLOGGED TABLE IF NOT EXISTS ${watches} (
  key uuid PRIMARY KEY,
  until bigint NOT NULL
);

INSERT INTO ${ledger} (id, layout) VALUES (gen_random_uuid(), ${LAYOUT})
ON CONFLICT (single) DO UPDATE SET layout = greatest(${ledger}.layout, ${LAYOUT});
`;
}

const schemaScript = (schema: string | undefined): string =>
  schema === undefined
    ? ""
    : `-- Asked first: CREATE SCHEMA IF NOT EXISTS needs the right to create one that is there.
DO $$ BEGIN
  IF to_regnamespace(${literal(quote(schema))}) IS NULL THEN CREATE SCHEMA ${quote(schema)}; END IF;
END $$;

`;

export interface MigrationOptions {
  /** As given to `postgresStore`. @default the first schema of the search path */
  readonly schema?: string | undefined;
  /** As given to `postgresStore`. @default "holdfire" */
  readonly table?: string | undefined;
}

/** The SQL that `migrate()` runs, for those who run migrations themselves. Safe to run again. */
export const migrationSql = ({ schema, table }: MigrationOptions = {}): string =>
  `BEGIN;\n\n${scriptAt(checkLocation(schema, table))}\nCOMMIT;\n`;
