/**
 * The clients that are understood, by what they can do: nothing is imported from either package.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Connection, Session } from "./connection.ts";
import { connectPg, type PgClientLike, type PgPoolLike, pgSession } from "./pg.ts";
import {
  connectPostgresJs,
  type PostgresJsLike,
  type PostgresJsSessionLike,
  postgresJsSession,
} from "./postgres-js.ts";

/** A `Pool` of pg, or the `sql` of postgres.js. */
export type PostgresPoolLike = PgPoolLike | PostgresJsLike;

/** A client of pg between `BEGIN` and `COMMIT`, or what `sql.begin` of postgres.js hands out. */
export type PostgresTransactionLike = PgClientLike | PostgresJsSessionLike;

export function connect(pool: PostgresPoolLike): Connection {
  if (isPostgresJs(pool)) return connectPostgresJs(pool);
  if (isPgClient(pool) && has(pool, "connect")) return connectPg(pool);
  throw new InvalidInputError(
    "postgres.pool",
    "must be a Pool of pg, or the sql function of postgres.js.",
  );
}

export function joinTransaction(tx: PostgresTransactionLike): Session {
  if (isPostgresJs(tx)) return postgresJsSession(tx);
  if (isPgClient(tx)) return pgSession(tx);
  throw new InvalidInputError(
    "postgres.enlist",
    "must be given a client of pg in a transaction, or the sql that sql.begin() hands out.",
  );
}

/** Both are told by their methods; the one of postgres.js is itself a function. */
const isPostgresJs = <T>(client: T): client is Extract<T, PostgresJsSessionLike> =>
  typeof client === "function" && has(client, "unsafe");

const isPgClient = <T>(client: T): client is Extract<T, PgClientLike> =>
  typeof client === "object" && client !== null && has(client, "query");

const has = (client: object, method: string): boolean =>
  typeof Reflect.get(client, method) === "function";
