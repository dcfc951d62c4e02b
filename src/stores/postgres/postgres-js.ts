/**
 * The `sql` of postgres.js, by structure.
 *
 * @module
 */

import type { Connection, Row, Session } from "./connection.ts";

interface PendingQueryLike extends PromiseLike<unknown> {
  values(): PromiseLike<unknown[][]>;
}

/** What runs statements, in a transaction or not. */
export interface PostgresJsSessionLike {
  unsafe(
    text: string,
    values?: (string | null)[],
    options?: { readonly prepare?: boolean },
  ): PendingQueryLike;
}

/** The `sql` of postgres.js. */
export interface PostgresJsLike extends PostgresJsSessionLike {
  listen(
    channel: string,
    onnotify: (payload: string) => void,
    onlisten?: () => void,
  ): PromiseLike<{ unlisten(): Promise<void> }>;
}

export const postgresJsSession = (sql: PostgresJsSessionLike): Session => ({
  async run({ name, text }, values) {
    // It names prepared statements itself, by their text.
    return (await sql.unsafe(text, [...values], { prepare: name !== undefined }).values()) as Row[];
  },
});

export function connectPostgresJs(sql: PostgresJsLike): Connection {
  return {
    ...postgresJsSession(sql),
    // Without values it is sent as one simple query, which Postgres runs as one transaction.
    async script(text) {
      await sql.unsafe(text);
    },
    // It opens a connection for this, and opens another when that is lost.
    async listen(channel, { heard, restarted }) {
      const { unlisten } = await sql.listen(channel, heard, restarted);
      return { stop: unlisten };
    },
  };
}
