/**
 * Keeps the ledger in Redis: shared by all processes, changed by scripts, on the server's clock.
 *
 * A call that goes well costs two round trips, one that is replayed costs one; calls made at the same
 * time share them. Subpath export `"holdfire/redis"`.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { ClosedError } from "../../errors.ts";
import { soon } from "../../lang/clock.ts";
import { addressOf } from "../../ledger/address.ts";
import type { Change, Store, Swapped } from "../../ledger/store.ts";
import { connect, type RedisClientLike } from "./client.ts";
import { type RedisDurability, readPromise, unreadPromise } from "./durability.ts";
import { ownEffect, ownerOfEffect } from "./effects.ts";
import { readLane, swapApart } from "./lanes.ts";
import { layoutFor } from "./layout.ts";
import { createPruner, listRecords } from "./list.ts";
import { createSession } from "./session.ts";
import { createSwapper, readRecord } from "./swap.ts";
import { createWatchers } from "./watchers.ts";

export type { IoredisLike, NodeRedisLike, RedisClientLike } from "./client.ts";
export type { RedisDurability } from "./durability.ts";

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
   * The settings of a Redis that forbids `CONFIG GET`. Used only where the server does not tell them;
   * without it such a Redis counts as one that may forget.
   *
   * @default nothing is declared
   */
  readonly durability?: RedisDurability | undefined;
  /**
   * Accepts a ledger that may forget. Without it, on a Redis that may forget, a write whose tool is
   * neither keyed nor readable is refused: nothing could tell later whether it had been sent.
   *
   * @default such writes are refused
   */
  readonly forgets?: "accepted" | undefined;
}

export function redisStore(options: RedisStoreOptions): Store {
  const { client, prefix = "hf", durability } = options;
  const accepted = options.forgets === "accepted";
  const connection = connect(client);
  const isCluster = connection.kind === "cluster";
  const layout = layoutFor(connection.kind, prefix);
  const session = createSession(connection, layout);
  const swapRecord = createSwapper(session);
  const prune = createPruner(session, swap);
  const watchers = createWatchers(connection, async () => {
    await ready();
    return session.keyPrefix();
  });
  // Names every write of this store, so that one that arrives twice is recognised.
  const author = randomBytes(9).toString("base64url");
  let writes = 0;
  let promise = unreadPromise(accepted);
  let prepared: Promise<void> | undefined;
  let isReady = false;
  let closed = false;

  function assertOpen(): void {
    if (closed) throw new ClosedError();
  }

  async function prepare(): Promise<void> {
    promise = await readPromise(connection, durability, accepted);
    await session.begin();
    isReady = true;
  }

  /** Once, and again if it failed. */
  async function ready(): Promise<void> {
    assertOpen();
    prepared ??= prepare().catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    await prepared;
    assertOpen();
  }

  async function swap(change: Change): Promise<Swapped> {
    const { tenant, id, lane } = change;
    writes += 1;
    const nonce = `${author}.${writes.toString(36)}`;
    const swapped =
      lane && isCluster
        ? await swapApart(session, swapRecord, change, lane, nonce)
        : await swapRecord(change, nonce);
    if (swapped.ok && watchers.any()) watchers.announce(keyOf(tenant, id));
    return swapped;
  }

  const whenReady =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      isReady && !closed ? call(...args) : ready().then(() => call(...args));

  const keyOf = (tenant: string, id: string): string =>
    layout.key(layout.bucketOf(tenant, id), "operation", tenant, id);

  return {
    name: "redis",
    address: addressOf(prefix, placesOf(client)),
    lanesApart: isCluster,

    get promise() {
      return promise;
    },

    async open() {
      await ready();
      return session.begin();
    },

    swap: whenReady(swap),
    read: whenReady((tenant, id) => readRecord(session, tenant, id)),
    readLane: whenReady((tenant, name) => readLane(session, tenant, name)),
    own: whenReady((...effect) => ownEffect(session, ...effect)),
    ownerOf: whenReady((...effect) => ownerOfEffect(session, ...effect)),
    list: whenReady((query) => listRecords(session, query)),
    prune: whenReady(prune),

    watch(tenant, id, changed) {
      assertOpen();
      return watchers.watch(keyOf(tenant, id), changed);
    },

    async close() {
      closed = true;
      watchers.close();
      // What waits to be sent together goes out before the user ends the client.
      await new Promise<void>((resolve) => soon(resolve));
    },
  };
}

/** ioredis and node-redis keep what they were made with in `options`. */
function placesOf(client: object): readonly unknown[] {
  const options: unknown = Reflect.get(client, "options");
  const inSocket = typeof options === "object" && options !== null;
  return [options, inSocket ? Reflect.get(options, "socket") : undefined];
}
