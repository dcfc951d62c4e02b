/**
 * The names of the ledger's tables: the only text that is ever written into a statement.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";

export interface TableNames {
  /** Not validated when the database itself named it. */
  readonly schema?: string | undefined;
  readonly table: string;
}

/** Quoted, and with the schema in front where it is known. */
export interface Names {
  readonly operations: string;
  readonly lanes: string;
  readonly effects: string;
  readonly watches: string;
  readonly ledger: string;
  readonly sequence: string;
  /** The index that finds the operations of a phase in the order of creation, without a schema. */
  readonly byPhase: string;
  readonly byScope: string;
  readonly byOwner: string;
}

export const DEFAULT_TABLE = "holdfire";

/** Short enough that what is added to it stays below the 63 bytes Postgres keeps of a name. */
const NAME = /^[a-z_][a-z0-9_]{0,40}$/;

export function checkNames(schema: unknown, table: unknown = DEFAULT_TABLE): TableNames {
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

export function namesOf({ schema, table }: TableNames): Names {
  const prefix = schema === undefined ? "" : `${quote(schema)}.`;
  const named = (thing: string): string => `${prefix}${quote(`${table}_${thing}`)}`;
  return {
    operations: named("operations"),
    lanes: named("lanes"),
    effects: named("effects"),
    watches: named("watches"),
    ledger: named("ledger"),
    sequence: named("sequence"),
    byPhase: quote(`${table}_operations_phase`),
    byScope: quote(`${table}_operations_scope`),
    byOwner: quote(`${table}_effects_owner`),
  };
}

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** As a string in a statement: what `nextval` and `to_regclass` take. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
