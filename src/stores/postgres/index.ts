/**
 * Keeps the ledger in Postgres: shared by all processes, one statement a move, the database's clock.
 *
 * Moves that are asked for at the same time share a statement and so a commit. Subpath export
 * `"holdfire/postgres"`.
 *
 * @module
 */

import { ClosedError } from "../../errors.ts";
import { sleep, systemClock } from "../../lang/clock.ts";
import { addressOf } from "../../ledger/address.ts";
import type { EnlistedStore, Store, StorePromise } from "../../ledger/store.ts";
import { createBatcher } from "./batch.ts";
import { checkDatabase, holdsChange, readIncarnation, readTimeline, unasked } from "./check.ts";
import {
  connect,
  joinTransaction,
  type PostgresPoolLike,
  type PostgresTransactionLike,
  unavailable,
} from "./client.ts";
import { enlistedStore } from "./enlist.ts";
import { listRecords, pruneRecords } from "./list.ts";
import { keyOf, laneIn, moveOf, storedIn } from "./row.ts";
import { checkLocation, scriptAt, type Tables } from "./schema.ts";
import { type Statements, statementsOf } from "./statements.ts";
import { makeMoves } from "./swap.ts";
import { createWatchers } from "./watchers.ts";

export type { PostgresPoolLike, PostgresTransactionLike } from "./client.ts";
export { type MigrationOptions, migrationSql } from "./schema.ts";

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
   * from the pool while one waits. Without it, and with a pg pool of one, they poll. Set it to
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
   * Says that you accept a ledger that forgets. Without it, on a Postgres that may forget (`synchronous_commit` or
   * `fsync` off, a standby that is not synchronous), a write whose tool has neither a key nor a reader is refused.
   *
   * @default such writes are refused
   */
  readonly forgets?: "accepted" | undefined;
}

export interface PostgresStore extends Store {
  /** Makes or updates the tables. Safe to call again, and by several at once. */
  migrate(): Promise<void>;
  /**
   * A store whose commits join `tx`, which must be in a READ COMMITTED transaction on the same
   * database; `open` checks that. After a call that failed, and after a settle that is refused because another
   * process owns the operation, `tx` cannot be committed. Claims still need a connection of the pool: if transactions can take all of
   * them, give the store a pool of its own.
   */
  enlist(tx: PostgresTransactionLike): EnlistedStore;
}

/** What is known once the ledger is open. */
interface Ledger {
  readonly id: string;
  readonly tables: Tables;
  readonly statements: Statements;
  readonly channel: string;
}

export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  const { pool, schema, table, notify = true, prepare = true, forgets } = options;
  const location = checkLocation(schema, table);
  const connection = connect(pool);
  const accepted = forgets === "accepted";
  const closing = new AbortController();
  let promise: StorePromise = unasked(accepted);
  let opened: Promise<Ledger> | undefined;

  function assertOpen(): void {
    if (closing.signal.aborted) throw new ClosedError();
  }

  async function openLedger(): Promise<Ledger> {
    if (options.migrate) await connection.script(scriptAt(location));
    const checked = await checkDatabase(connection, location, accepted);
    const { tables } = checked;
    const { id } = await readIncarnation(connection, tables);
    // Named after the ledger: all who share it are told, and no one else.
    const channel = `holdfire_${id.replaceAll("-", "")}`;
    const statements = statementsOf({ tables, channel: notify ? channel : undefined, prepare });
    promise = checked.promise;
    return { id, tables, statements, channel };
  }

  /** Opens it once, and again if that failed. */
  async function ready(): Promise<Ledger> {
    assertOpen();
    opened ??= openLedger().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    const ledger = await opened;
    assertOpen();
    return ledger;
  }

  async function ask<T>(step: string, work: (ledger: Ledger) => Promise<T>): Promise<T> {
    try {
      return await work(await ready());
    } catch (error) {
      throw unavailable(step, error);
    }
  }

  const batcher = createBatcher({
    run: async (moves) => makeMoves(connection, (await ready()).statements.swap, moves),
    pause: (ms) => sleep(systemClock, ms, closing.signal),
  });
  const watchers = createWatchers({
    connection,
    clock: systemClock,
    channel: async () => (await ready()).channel,
    async register(key, forMs) {
      await connection.run((await ready()).statements.register, [key, String(forMs)]);
    },
  });

  const store: PostgresStore = {
    name: "postgres",
    address: addressOf(`${schema ?? ""}.${table ?? "holdfire"}`, [Reflect.get(pool, "options")]),

    get promise() {
      return promise;
    },

    open: () =>
      ask("open", async ({ tables }) => {
        const timeline = await readTimeline(connection);
        return { ...(await readIncarnation(connection, tables)), timeline };
      }),

    holds: (sequence) => ask("holds", ({ tables }) => holdsChange(connection, tables, sequence)),

    swap: (change) =>
      ask("swap", async () => {
        const move = moveOf(change);
        const swapped = await batcher.swap(move);
        if (swapped.ok) watchers.announce(move.key);
        return swapped;
      }),

    read: (tenant, id) =>
      ask("read", async ({ statements }) => {
        const [[now, ...row] = []] = await connection.run(statements.read, [keyOf(tenant, id)]);
        return { stored: storedIn(tenant, id, row), now: Number(now) };
      }),

    readLane: (tenant, name) =>
      ask("readLane", async ({ statements }) => {
        const key = keyOf(tenant, name);
        const [[now, ...row] = []] = await connection.run(statements.readLane, [key]);
        return { stored: laneIn(row), now: Number(now) };
      }),

    own: (tenant, service, effectId, id) =>
      ask("own", async ({ statements }) => {
        const values = [keyOf(tenant, service, effectId), keyOf(tenant, id), id];
        const [row] = await connection.run(statements.own, values);
        return row?.[0] ?? id;
      }),

    ownerOf: (tenant, service, effectId) =>
      ask("ownerOf", async ({ statements }) => {
        const [row] = await connection.run(statements.ownerOf, [keyOf(tenant, service, effectId)]);
        return row?.[0] ?? undefined;
      }),

    list: (query) => ask("list", ({ tables }) => listRecords(connection, tables, query)),

    prune: (query) =>
      ask("prune", async ({ tables }) => {
        const { now } = await readIncarnation(connection, tables);
        return pruneRecords(connection, tables, store.swap, query, now);
      }),

    ...(notify && {
      watch(tenant: string, id: string, changed: () => void) {
        assertOpen();
        return watchers.watch(keyOf(tenant, id), changed);
      },
    }),

    async migrate() {
      assertOpen();
      // What Postgres says about a migration (rights, names) is told as it is.
      await connection.script(scriptAt(location));
    },

    enlist: (tx) =>
      enlistedStore({
        store,
        tx: joinTransaction(tx),
        client: tx,
        ready,
        idSeenBy: async (session) => (await readIncarnation(session, (await ready()).tables)).id,
      }),

    async close() {
      closing.abort();
      await batcher.close();
      await watchers.close();
    },
  };
  return store;
}
