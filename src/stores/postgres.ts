/**
 * Keeps the ledger in Postgres: shared by all processes, one statement a move, the database's clock.
 *
 * Moves that are asked for at the same time share a statement and so a commit. Subpath export
 * `"holdfire/postgres"`.
 *
 * @module
 */

import { ClosedError } from "../errors.ts";
import { sleep, systemClock } from "../lang/clock.ts";
import { addressOf } from "../ledger/address.ts";
import type { Store, StorePromise } from "../ledger/store.ts";
import { createBatcher } from "./postgres/batch.ts";
import { checkDatabase, readIncarnation, unasked } from "./postgres/check.ts";
import { connect, joinTransaction, type PostgresTransactionLike } from "./postgres/client.ts";
import { enlistedStore } from "./postgres/enlist.ts";
import { unavailable } from "./postgres/failure.ts";
import { keyOf } from "./postgres/key.ts";
import { listRecords } from "./postgres/list.ts";
import { migrate } from "./postgres/migration.ts";
import { checkNames, type Names } from "./postgres/names.ts";
import type { PostgresStoreOptions } from "./postgres/options.ts";
import { pruneRecords } from "./postgres/prune.ts";
import { askedOf, laneIn, storedIn } from "./postgres/row.ts";
import { type Statements, statementsOf } from "./postgres/statements.ts";
import { swapAll } from "./postgres/swap.ts";
import { createWatchers } from "./postgres/watchers.ts";

export type { PostgresPoolLike, PostgresTransactionLike } from "./postgres/client.ts";
export { type MigrationOptions, migrationSql } from "./postgres/migration.ts";
export type { PostgresStoreOptions } from "./postgres/options.ts";

export interface PostgresStore extends Store {
  /** Makes or updates the tables. Safe to call again, and by several at once. */
  migrate(): Promise<void>;
  /**
   * A store whose settles join `tx`, which must be in a READ COMMITTED transaction on the same
   * database; `open` checks that. A settle that is refused means that somebody else owns the operation:
   * roll back. Claims still need a connection of the pool: if transactions can take all of them, give
   * the store a pool of its own.
   */
  enlist(tx: PostgresTransactionLike): Store;
}

/** What is known once the ledger is open. */
interface Opened {
  readonly id: string;
  readonly names: Names;
  readonly statements: Statements;
  readonly channel: string;
}

export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  const { pool, schema, table, notify = true, prepare = true, forgets } = options;
  const tables = checkNames(schema, table);
  const connection = connect(pool);
  const accepted = forgets === "accepted";
  const closing = new AbortController();
  let promise: StorePromise = unasked(accepted);
  let opened: Opened | undefined;
  let opening: Promise<Opened> | undefined;

  function assertOpen(): void {
    if (closing.signal.aborted) throw new ClosedError();
  }

  async function prepareLedger(): Promise<Opened> {
    if (options.migrate) await migrate(connection, tables);
    const checked = await checkDatabase(connection, tables, accepted);
    const { names } = checked;
    const { id } = await readIncarnation(connection, names);
    // Named after the ledger: all who share it hear each other, and nobody else.
    const channel = `holdfire_${id.replaceAll("-", "")}`;
    const statements = statementsOf({ names, channel: notify ? channel : undefined, prepare });
    promise = checked.promise;
    opened = { id, names, statements, channel };
    return opened;
  }

  /** Once, and again if it failed. */
  async function ready(): Promise<Opened> {
    assertOpen();
    if (opened) return opened;
    opening ??= prepareLedger().finally(() => {
      opening = undefined;
    });
    const now = await opening;
    assertOpen();
    return now;
  }

  async function ask<T>(step: string, work: (ledger: Opened) => Promise<T>): Promise<T> {
    assertOpen();
    try {
      return await work(await ready());
    } catch (error) {
      throw unavailable(step, error);
    }
  }

  const batcher = createBatcher({
    run: async (asked) => swapAll(connection, (await ready()).statements.swap, asked),
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

    open: () => ask("open", ({ names }) => readIncarnation(connection, names)),

    async swap(change) {
      assertOpen();
      if (!opened) await ask("open", async () => {});
      const asked = askedOf(change);
      const swapped = await batcher.swap(asked);
      if (swapped.ok) watchers.announce(asked.key);
      return swapped;
    },

    read: (tenant, id) =>
      ask("read", async ({ statements }) => {
        const [row] = await connection.run(statements.read, [keyOf(tenant, id)]);
        const [now, version, lease, text] = row ?? [];
        const isThere = typeof version === "string" && typeof text === "string";
        return {
          stored: isThere ? storedIn(tenant, id, version, lease, text) : undefined,
          now: Number(now),
        };
      }),

    readLane: (tenant, name) =>
      ask("readLane", async ({ statements }) => {
        const [row] = await connection.run(statements.readLane, [keyOf(tenant, name)]);
        const [now, version, text] = row ?? [];
        const stored = typeof version === "string" ? laneIn(version, text) : undefined;
        return { stored, now: Number(now) };
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

    list: (query) => ask("list", ({ names }) => listRecords(connection, names, query)),

    prune: (query) =>
      ask("prune", ({ names }) => {
        const now = async () => (await readIncarnation(connection, names)).now;
        return pruneRecords({ session: connection, names, swap: store.swap, now }, query);
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
      await migrate(connection, tables);
    },

    enlist: (tx) =>
      enlistedStore({
        store,
        tx: joinTransaction(tx),
        ready,
        idSeenBy: async (session) => (await readIncarnation(session, (await ready()).names)).id,
      }),

    async close() {
      closing.abort();
      await batcher.close();
      await watchers.close();
    },
  };
  return store;
}
