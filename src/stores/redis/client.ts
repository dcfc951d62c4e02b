/**
 * The clients that are understood, by what they can do: nothing is imported from either package.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Connection } from "./connection.ts";
import { connectIoredis } from "./ioredis.ts";
import { connectNodeRedis } from "./node-redis.ts";

/** `new Redis()` or `new Redis.Cluster()` of ioredis. */
export interface IoredisLike {
  readonly status: string;
  call(command: string, ...args: string[]): Promise<unknown>;
}

/** `createClient()`, `createClientPool()`, `createCluster()` or `createSentinel()` of node-redis. */
export interface NodeRedisLike {
  readonly isOpen: boolean;
  evalSha(
    sha: string,
    options: { readonly keys: string[]; readonly arguments: string[] },
  ): Promise<unknown>;
  eval(
    text: string,
    options: { readonly keys: string[]; readonly arguments: string[] },
  ): Promise<unknown>;
}

/** What a Redis client must be able to do: ioredis or node-redis, single, sentinel or cluster. */
export type RedisClientLike = IoredisLike | NodeRedisLike;

export function connect(client: RedisClientLike): Connection {
  if (isIoredis(client)) return connectIoredis(client);
  if (isNodeRedis(client)) return connectNodeRedis(client);
  throw new InvalidInputError("redis.client", "must be a client of ioredis or node-redis.");
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const isIoredis = (client: unknown): client is IoredisLike =>
  isObject(client) &&
  "call" in client &&
  typeof client.call === "function" &&
  "status" in client &&
  typeof client.status === "string";

const isNodeRedis = (client: unknown): client is NodeRedisLike =>
  isObject(client) &&
  "evalSha" in client &&
  typeof client.evalSha === "function" &&
  "eval" in client &&
  typeof client.eval === "function" &&
  "isOpen" in client &&
  typeof client.isOpen === "boolean";
