/**
 * A `Pool` of pg, by structure.
 *
 * @module
 */

import type { Connection, Hear, Listening, Row, Session } from "./connection.ts";

/** Without `| undefined`, as in pg's own types, so that a wrapper can pass it on. */
interface PgQuery {
  name?: string;
  text: string;
  values?: (string | null)[];
  rowMode: "array";
}

/** A client of pg. */
export interface PgClientLike {
  query(query: PgQuery): Promise<{ readonly rows: unknown[][] }>;
}

interface PooledClientLike extends PgClientLike {
  on(
    event: "notification",
    listener: (message: { readonly payload?: string | undefined }) => void,
  ): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  /** With `true` the connection is closed, not given back. */
  release(destroy?: boolean): void;
}

/** A `Pool` of pg. */
export interface PgPoolLike extends PgClientLike {
  readonly options?: { readonly max?: number | undefined } | undefined;
  connect(): Promise<PooledClientLike>;
}

export const pgSession = (client: PgClientLike): Session => ({
  async run({ name, text }, values) {
    const query: PgQuery = { text, values: [...values], rowMode: "array" };
    const { rows } = await client.query(name === undefined ? query : { ...query, name });
    return rows as Row[];
  },
});

export function connectPg(pool: PgPoolLike): Connection {
  return {
    ...pgSession(pool),
    // Without values pg sends it as one simple query, which Postgres runs as one transaction.
    async script(text) {
      await pool.query({ text, rowMode: "array" });
    },
    // The only connection of a pool must not be kept from the writes.
    listen: pool.options?.max === 1 ? undefined : (channel, hear) => listen(pool, channel, hear),
  };
}

async function listen(pool: PgPoolLike, channel: string, hear: Hear): Promise<Listening> {
  const client = await pool.connect();
  let released = false;
  // Destroyed, so that nobody else gets a connection that still listens.
  const release = (): void => {
    if (released) return;
    released = true;
    client.release(true);
  };
  client.on("error", () => {
    release();
    hear.ended();
  });
  client.on("notification", ({ payload }) => {
    if (!released) hear.heard(payload ?? "");
  });
  try {
    await client.query({ text: `LISTEN "${channel}"`, rowMode: "array" });
  } catch (error) {
    release();
    throw error;
  }
  hear.restarted();
  return {
    async stop() {
      release();
    },
  };
}
