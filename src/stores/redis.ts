/**
 * Keeps the ledger in Redis: shared by all processes, one script a move, the server's clock.
 *
 * A call that goes well costs two trips, one that is replayed costs one. Subpath export
 * `"holdfire/redis"`.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { ClosedError } from "../errors.ts";
import { addressOf } from "../ledger/address.ts";
import type { Change, Store, StorePromise, Swapped } from "../ledger/store.ts";
import { SWAP_LANE, swapApart } from "./redis/apart.ts";
import { connect, type RedisClientLike } from "./redis/client.ts";
import { EFFECTS, ownEffect, ownerOfEffect } from "./redis/effects.ts";
import { INDEX } from "./redis/index-page.ts";
import { layoutFor } from "./redis/layout.ts";
import { listRecords } from "./redis/list.ts";
import { MOVES, swapRecord } from "./redis/move.ts";
import { assertWritable, promiseOf, unasked } from "./redis/promise.ts";
import { createPruner } from "./redis/prune.ts";
import { READ, readLane, readRecord } from "./redis/read.ts";
import { createRunner } from "./redis/runner.ts";
import { createSession, SESSION } from "./redis/session.ts";
import { type RedisDurability, readSettings } from "./redis/settings.ts";
import { createWatchers } from "./redis/watchers.ts";

export type { IoredisLike, NodeRedisLike, RedisClientLike } from "./redis/client.ts";
export type { RedisDurability } from "./redis/settings.ts";

export interface RedisStoreOptions {
  /**
   * A connected client of ioredis or node-redis, single, sentinel or cluster. It stays yours: closing
   * the store does not close it.
   */
  readonly client: RedisClientLike;
  /**
   * What all keys begin with: 1 to 64 letters, digits, `:`, `_` or `-`. Another prefix is another
   * ledger.
   *
   * @default "hf"
   */
  readonly prefix?: string | undefined;
  /**
   * What a Redis that forbids `CONFIG GET` is set to. Believed only where the server does not say;
   * without it such a Redis counts as one that may forget.
   *
   * @default nothing is declared
   */
  readonly durability?: RedisDurability | undefined;
  /**
   * Says that you accept a ledger that forgets. Without it, on a Redis that may forget, a write whose
   * tool has neither a key nor a reader is refused: nobody could tell whether it had been sent.
   *
   * @default such writes are refused
   */
  readonly forgets?: "accepted" | undefined;
}

const SCRIPTS = [...SESSION, ...MOVES, READ, SWAP_LANE, ...INDEX, ...EFFECTS];

export function redisStore({ client, prefix, durability, forgets }: RedisStoreOptions): Store {
  const connection = connect(client);
  const { kind, failsOver } = connection;
  const accepted = forgets === "accepted";
  const layout = layoutFor(kind, prefix);
  const runner = createRunner(connection);
  const session = createSession(runner, layout);
  // Names every write of this store, so that one that arrives twice is known.
  const author = randomBytes(9).toString("base64url");
  const watchers = createWatchers(connection, async (key) => {
    await ready();
    return session.keyPrefix() + key;
  });
  const prune = createPruner(session, swap);
  let promise: StorePromise = unasked(accepted);
  let preparing: Promise<void> | undefined;
  let prepared = false;
  let written = 0;
  let closed = false;

  function assertOpen(): void {
    if (closed) throw new ClosedError();
  }

  async function prepare(): Promise<void> {
    await runner.prepare(SCRIPTS, layout.key(0, "name"));
    const servers = await readSettings(connection, durability);
    assertWritable(servers, { kind });
    promise = promiseOf(servers, { kind, failsOver, accepted });
    await session.begin();
    prepared = true;
  }

  /** Once, and again if it failed. */
  async function ready(): Promise<void> {
    assertOpen();
    if (prepared) return;
    preparing ??= prepare().finally(() => {
      preparing = undefined;
    });
    await preparing;
    assertOpen();
  }

  const keyOf = (tenant: string, id: string): string =>
    layout.key(layout.bucketOf(tenant, id), "operation", tenant, id);

  async function swap(change: Change): Promise<Swapped> {
    written += 1;
    const nonce = `${author}.${written.toString(36)}`;
    const { lane } = change;
    const swapped =
      lane && kind === "cluster"
        ? await swapApart(session, change, lane, nonce)
        : await swapRecord(session, change, nonce);
    if (swapped.ok && watchers.any()) watchers.announce(keyOf(change.tenant, change.id));
    return swapped;
  }

  return {
    name: "redis",
    address: addressOf(prefix ?? "hf", placesOf(client)),
    lanesApart: kind === "cluster",

    get promise() {
      return promise;
    },

    async open() {
      await ready();
      return session.begin();
    },

    swap: (change) => (prepared && !closed ? swap(change) : ready().then(() => swap(change))),

    async read(tenant, id) {
      await ready();
      return readRecord(session, tenant, id);
    },

    async readLane(tenant, name) {
      await ready();
      return readLane(session, tenant, name);
    },

    async own(tenant, service, effectId, id) {
      await ready();
      return ownEffect(session, tenant, service, effectId, id);
    },

    async ownerOf(tenant, service, effectId) {
      await ready();
      return ownerOfEffect(session, tenant, service, effectId);
    },

    async list(query) {
      await ready();
      return listRecords(session, query);
    },

    async prune(query) {
      await ready();
      return prune(query);
    },

    watch(tenant, id, changed) {
      assertOpen();
      return watchers.watch(keyOf(tenant, id), changed);
    },

    async close() {
      closed = true;
      watchers.close();
    },
  };
}

/** ioredis and node-redis keep what they were made with in `options`. */
function placesOf(client: object): readonly unknown[] {
  const options: unknown = Reflect.get(client, "options");
  const inSocket = typeof options === "object" && options !== null;
  return [options, inSocket ? Reflect.get(options, "socket") : undefined];
}
