/**
 * A row of your own database, with the key in a column that is unique: a repeated insert finds the first.
 *
 * If the ledger is in the same Postgres, `enlist` is stronger: the row and the record commit together.
 *
 * @module
 */

import type { ToolWithInput } from "../engine/define/definition.ts";
import { absent, committed } from "../engine/define/reading.ts";
import { typed } from "../engine/define/schema.ts";
import { InvalidInputError } from "../errors.ts";
import type { JsonObject } from "../key/json.ts";
import { peek } from "../lang/peek.ts";
import type { Verdict } from "../reasons.ts";
import { keyWindows } from "./key-windows.ts";

/** Where rows go. */
export interface SqlOptions {
  /** The table; `schema.table` is taken apart. It needs a unique constraint on the key's column. */
  readonly table: string;
  /** The columns that the arguments are written to, by name. No argument can name another. */
  readonly columns: readonly string[];
  /** @default "idempotency_key" */
  readonly keyColumn?: string | undefined;
  readonly dialect: "postgres" | "sqlite";
  /** Runs one statement, commits it, and gives its rows. */
  readonly query: (
    text: string,
    values: readonly SqlValue[],
  ) => Promise<readonly object[]> | readonly object[];
}

/** What a column is given. */
export type SqlValue = null | boolean | number | string;
/** Values by column. */
export type SqlArguments = Readonly<Record<string, SqlValue>>;
/** A row as the database gives it. */
export type SqlRow = JsonObject;

/** Inserts a row. All arguments are the intent. */
export function sqlInsert(options: SqlOptions): ToolWithInput<SqlArguments, SqlArguments, SqlRow> {
  const { table, keyColumn = "idempotency_key", dialect, query } = options;
  // A copy: the statement is made of these.
  const columns = [...options.columns];
  const names = [keyColumn, ...columns].map(quoted);
  const target = table.split(".").map(quoted).join(".");
  const marks = names.map((_, index) => (dialect === "postgres" ? `$${index + 1}` : "?"));
  const insert = `INSERT INTO ${target} (${names.join(", ")}) VALUES (${marks.join(", ")}) ON CONFLICT (${names[0]}) DO NOTHING RETURNING *`;
  const select = `SELECT * FROM ${target} WHERE ${names[0]} = ${marks[0]}`;
  const find = async (key: string): Promise<SqlRow | undefined> =>
    (await query(select, [key]))[0] as SqlRow | undefined;
  return {
    name: "sql_insert",
    kind: "write",
    service: `sql/${table}`,
    input: typed<SqlArguments>(),
    intent: (args) => {
      // Before anything is sent or recorded.
      if (Object.keys(args).every((name) => columns.includes(name))) return args;
      throw new InvalidInputError("args", `may name these columns only: ${columns.join(", ")}.`);
    },
    keyed: keyWindows.sqlRow,
    run: async (args, { key }) => {
      const [row] = await query(insert, [key, ...columns.map((name) => args[name] ?? null)]);
      return (row as SqlRow | undefined) ?? firstRow(key, find);
    },
    readState: async ({ keys }) => {
      const rows = (await Promise.all(keys.map(find))).filter((row) => row !== undefined);
      const [first] = rows;
      return first ? committed(first) : absent();
    },
    classify,
  };
}

/** The row of an earlier attempt. What fails here says nothing of the insert, so its code is left out. */
async function firstRow(
  key: string,
  find: (key: string) => Promise<SqlRow | undefined>,
): Promise<SqlRow> {
  const row = await find(key).catch(() => undefined);
  if (!row) throw new Error("The row is there, and could not be read.");
  return row;
}

const MOST_LENGTH = 63;

/** Names come from you, not from a model; they are quoted all the same. */
function quoted(name: string): string {
  if (name === "" || name.length > MOST_LENGTH || name.includes("\0")) {
    throw new InvalidInputError("sqlInsert", "needs names of 1 to 63 characters.");
  }
  return `"${name.replaceAll('"', '""')}"`;
}

/** Bad data, a broken constraint, a statement that is wrong: the database answered that it did nothing. */
const REJECTED_SQLSTATE = /^(?:22|23|42)[0-9A-Z]{3}$/;
const SQLITE_CONSTRAINT = 19;

function classify(error: unknown): Verdict | undefined {
  const [state, errcode] = [peek(error, "code"), peek(error, "errcode")];
  if (typeof state === "string" && REJECTED_SQLSTATE.test(state)) return "rejected";
  return typeof errcode === "number" && (errcode & 0xff) === SQLITE_CONSTRAINT
    ? "rejected"
    : undefined;
}
