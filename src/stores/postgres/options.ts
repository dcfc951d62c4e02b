/**
 * What `postgresStore` is told.
 *
 * @module
 */

import type { PostgresPoolLike } from "./client.ts";

export interface PostgresStoreOptions {
  /**
   * A `Pool` of pg, or the `sql` of postgres.js. It stays yours: closing the store does not end it, so
   * close the store first.
   */
  readonly pool: PostgresPoolLike;
  /**
   * The schema of the tables: 1 to 41 lower-case letters, digits or underscores. Another schema is
   * another ledger.
   *
   * @default the first of the search path that has the tables
   */
  readonly schema?: string | undefined;
  /**
   * What the names of the tables begin with: `holdfire` gives `holdfire_operations` and so on. The
   * same letters as for `schema`.
   *
   * @default "holdfire"
   */
  readonly table?: string | undefined;
  /**
   * Whether `open` makes the tables. Without it a database that lacks them is an error that says what
   * to run.
   *
   * @default false
   */
  readonly migrate?: boolean | undefined;
  /**
   * Whether waiting callers are told of changes by LISTEN and NOTIFY, on a connection that is taken
   * from the pool while somebody waits. Without it, and with a pg pool of one, they poll. Set it to
   * `false` behind a pooler that shares connections between transactions.
   *
   * @default true
   */
  readonly notify?: boolean | undefined;
  /**
   * Whether statements are prepared. Without it each one is planned anew, which takes longer than to
   * run it; needed behind a pooler that cannot carry prepared statements.
   *
   * @default true
   */
  readonly prepare?: boolean | undefined;
  /**
   * Says that you accept a ledger that forgets. Without it, on a Postgres that may forget
   * (`synchronous_commit` or `fsync` off), a write whose tool has neither a key nor a reader is refused.
   *
   * @default such writes are refused
   */
  readonly forgets?: "accepted" | undefined;
}
