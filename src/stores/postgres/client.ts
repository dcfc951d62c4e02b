/**
 * The database clients, pg and postgres.js, by what they can do: nothing is imported from either.
 *
 * @module
 */

import { InvalidInputError, isHoldfireError, StoreUnavailableError } from "../../errors.ts";

/** A row by position: a user's client may rename columns, and parse types in its own way. */
export type Row = readonly (string | null)[];

export interface Statement {
  readonly text: string;
  /** Prepared under this name; without one it is planned each time. */
  readonly name?: string | undefined;
}

/** Where one statement can be run: a pool, or one transaction. */
export interface Session {
  /**
   * All values are text, and the statement casts them; what it returns is cast to text. JSON is cast by
   * way of `::text`: as a parameter of its own type, postgres.js would encode it once more.
   */
  run(statement: Statement, values: readonly (string | null)[]): Promise<readonly Row[]>;
}

export interface Connection extends Session {
  /** Runs several statements as one transaction, without values. */
  script(text: string): Promise<void>;
  /** Listens on a connection of its own. Absent where no connection can be spared. */
  readonly listen?: ((channel: string, listener: Listener) => Promise<Listening>) | undefined;
}

export interface Listener {
  heard(payload: string): void;
  /** Called when it listens, and again after each loss: notifications sent in between are lost. */
  restarted(): void;
  /** It listens no more, and does not try again. */
  ended(): void;
}

export interface Listening {
  stop(): Promise<void>;
}

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

/** What runs statements of postgres.js, in a transaction or not. */
export interface PostgresJsSessionLike {
  unsafe(
    text: string,
    values?: (string | null)[],
    options?: { readonly prepare?: boolean },
  ): PromiseLike<unknown> & { values(): PromiseLike<unknown[][]> };
}

/** The `sql` of postgres.js. */
export interface PostgresJsLike extends PostgresJsSessionLike {
  listen(
    channel: string,
    onnotify: (payload: string) => void,
    onlisten?: () => void,
  ): PromiseLike<{ unlisten(): Promise<void> }>;
}

/** A `Pool` of pg, or the `sql` of postgres.js. */
export type PostgresPoolLike = PgPoolLike | PostgresJsLike;

/** A client of pg between `BEGIN` and `COMMIT`, or what `sql.begin` of postgres.js hands out. */
export type PostgresTransactionLike = PgClientLike | PostgresJsSessionLike;

/** In both clients a script is sent without values, as one simple query: Postgres runs it as one transaction. */
export function connect(pool: PostgresPoolLike): Connection {
  if (isPostgresJs(pool)) {
    return {
      ...sessionOfPostgresJs(pool),
      script: async (text) => void (await pool.unsafe(text)),
      // It opens a connection for this, and opens another when that is lost.
      async listen(channel, { heard, restarted }) {
        const { unlisten } = await pool.listen(channel, heard, restarted);
        return { stop: unlisten };
      },
    };
  }
  if (isPg(pool) && has(pool, "connect")) {
    // The only connection of a pool must not be kept from the writes.
    const canListen = pool.options?.max !== 1;
    return {
      ...sessionOfPg(pool),
      script: async (text) => void (await pool.query({ text, rowMode: "array" })),
      listen: canListen ? (channel, listener) => listenByPg(pool, channel, listener) : undefined,
    };
  }
  throw new InvalidInputError(
    "postgres.pool",
    "must be a Pool of pg, or the sql function of postgres.js.",
  );
}

export function joinTransaction(tx: PostgresTransactionLike): Session {
  if (isPostgresJs(tx)) return sessionOfPostgresJs(tx);
  if (isPg(tx)) return sessionOfPg(tx);
  throw new InvalidInputError(
    "postgres.enlist",
    "must be given a client of pg in a transaction, or the sql that sql.begin() hands out.",
  );
}

const sessionOfPg = (client: PgClientLike): Session => ({
  async run({ name, text }, values) {
    const query: PgQuery = { text, values: [...values], rowMode: "array" };
    const { rows } = await client.query(name === undefined ? query : { ...query, name });
    return rows as Row[];
  },
});

const sessionOfPostgresJs = (sql: PostgresJsSessionLike): Session => ({
  async run({ name, text }, values) {
    // It names prepared statements itself, by their text.
    return (await sql.unsafe(text, [...values], { prepare: name !== undefined }).values()) as Row[];
  },
});

async function listenByPg(
  pool: PgPoolLike,
  channel: string,
  { heard, restarted, ended }: Listener,
): Promise<Listening> {
  const client = await pool.connect();
  let released = false;
  // Destroyed, so that no other user of the pool gets a connection that still listens.
  const release = (): void => {
    if (!released) client.release(true);
    released = true;
  };
  client.on("error", () => {
    release();
    ended();
  });
  client.on("notification", ({ payload }) => {
    if (!released) heard(payload ?? "");
  });
  try {
    await client.query({ text: `LISTEN "${channel}"`, rowMode: "array" });
  } catch (error) {
    release();
    throw error;
  }
  restarted();
  return { stop: async () => release() };
}

/** The one of postgres.js is itself a function. */
const isPostgresJs = <T>(client: T): client is Extract<T, PostgresJsSessionLike> =>
  typeof client === "function" && has(client, "unsafe");

const isPg = <T>(client: T): client is Extract<T, PgClientLike> =>
  typeof client === "object" && client !== null && has(client, "query");

const has = (client: object, method: string): boolean =>
  typeof Reflect.get(client, method) === "function";

/** The SQLSTATE of an error: five characters, of which the first two are the class. */
export function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  const { code } = error;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** What a client threw, as one of our own errors; it is their `cause`. */
export const unavailable = (step: string, error: unknown): Error =>
  isHoldfireError(error) ? error : new StoreUnavailableError(step, error);
