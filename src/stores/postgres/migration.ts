/**
 * The tables, as SQL that can be run again and again: by `migrate()`, or by whoever runs migrations.
 *
 * @module
 */

import type { Connection } from "./connection.ts";
import { checkNames, literal, type Names, namesOf, quote, type TableNames } from "./names.ts";

/** Raised when the tables change. Each layout adds statements to those before, and takes none away. */
export const LAYOUT = 1;

/** All who migrate take the same advisory lock, whatever the schema: migrations are rare. */
const LOCK = 4_712_350_211_905;

/**
 * The key of an operation is a hash of its tenant and id: 16 bytes whatever they are, and of equal
 * cost to insert wherever it falls, since the rows lie in the order they came in.
 *
 * `phase` is what lists and pruning look for: 0 open, 1 settled with its payload, 2 settled without.
 * It changes when an operation is settled, so that update cannot stay within its page (HOT); without
 * it, to find three open operations among five million settled ones would read them all. Rows are
 * packed full for the same reason: room kept beside them would never be used.
 *
 * `watches` says what somebody waits for. Only those changes are announced: every NOTIFY takes one
 * lock of the whole database until its transaction is on disk.
 */
const tablesOf = (names: Names): string => `CREATE SEQUENCE IF NOT EXISTS ${names.sequence};

CREATE TABLE IF NOT EXISTS ${names.ledger} (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  id uuid NOT NULL,
  layout integer NOT NULL
);

CREATE TABLE IF NOT EXISTS ${names.operations} (
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
CREATE INDEX IF NOT EXISTS ${names.byPhase} ON ${names.operations} (tenant_key, phase, seq);
CREATE INDEX IF NOT EXISTS ${names.byScope} ON ${names.operations} (scope_key, seq);

CREATE TABLE IF NOT EXISTS ${names.lanes} (
  key uuid PRIMARY KEY,
  version bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL
);

CREATE TABLE IF NOT EXISTS ${names.effects} (
  key uuid PRIMARY KEY,
  operation uuid NOT NULL,
  id text COLLATE "C" NOT NULL
);
CREATE INDEX IF NOT EXISTS ${names.byOwner} ON ${names.effects} (operation);

CREATE UNLOGGED TABLE IF NOT EXISTS ${names.watches} (
  key uuid PRIMARY KEY,
  until bigint NOT NULL
);

INSERT INTO ${names.ledger} (id, layout) VALUES (gen_random_uuid(), ${LAYOUT})
ON CONFLICT (single) DO UPDATE SET layout = greatest(${names.ledger}.layout, ${LAYOUT});
`;

const schemaOf = (schema: string | undefined): string =>
  schema === undefined
    ? ""
    : `-- Asked first: CREATE SCHEMA IF NOT EXISTS needs the right to create one that is there.
DO $$ BEGIN
  IF to_regnamespace(${literal(quote(schema))}) IS NULL THEN CREATE SCHEMA ${quote(schema)}; END IF;
END $$;

`;

const scriptOf = (tables: TableNames): string =>
  `SELECT pg_advisory_xact_lock(${LOCK});

${schemaOf(tables.schema)}${tablesOf(namesOf(tables))}`;

/** Runs as one transaction; of several at once the others wait, and then find everything there. */
export const migrate = (connection: Connection, tables: TableNames): Promise<void> =>
  connection.script(scriptOf(tables));

export interface MigrationOptions {
  /** As given to `postgresStore`. @default the first schema of the search path */
  readonly schema?: string | undefined;
  /** As given to `postgresStore`. @default "holdfire" */
  readonly table?: string | undefined;
}

/** The SQL that `migrate()` runs, for those who run migrations themselves. Safe to run again. */
export const migrationSql = ({ schema, table }: MigrationOptions = {}): string =>
  `BEGIN;\n\n${scriptOf(checkNames(schema, table))}\nCOMMIT;\n`;
