/**
 * Makes ioredis and node-redis alike, by what their clients can do: nothing is imported from either.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";

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

/** What the store needs of a client, whichever it is. */
export interface Connection {
  readonly kind: "single" | "cluster";
  /** Whether the client follows a failover by itself, to a server that may know less. */
  readonly failsOver: boolean;
  /** Whether the client was closed or never connected: a command would be refused, or wait for ever. */
  isClosed(): boolean;
  /** Runs a script on the server that has the first key. */
  run(
    command: "EVAL" | "EVALSHA",
    script: string,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<unknown>;
  /** Every server that takes writes, for questions about its settings. */
  primaries(): Promise<readonly Command[]>;
  /** Opens a connection for channels; absent where the client cannot. */
  readonly openChannels?: ((heard: (channel: string) => void) => Channels) | undefined;
}

export type Command = (name: string, ...args: string[]) => Promise<unknown>;

export interface Channels {
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  /** Ends what was opened for the channels, and nothing of the user's. */
  close(): void;
}

/** The rest of an ioredis client, as far as it is used. */
interface Ioredis extends IoredisLike {
  readonly isCluster?: boolean | undefined;
  readonly options?: { readonly sentinels?: unknown } | undefined;
  nodes?(role: "master"): readonly IoredisLike[];
  duplicate?(...overrides: readonly unknown[]): {
    on(event: string, listener: (text: string) => void): unknown;
    subscribe(channel: string): Promise<unknown>;
    unsubscribe(channel: string): Promise<unknown>;
    disconnect(): void;
  };
}

/** The rest of a node-redis client, as far as it is used; each kind has some of it. */
interface NodeRedis extends NodeRedisLike {
  withTypeMapping?(mapping: object): NodeRedis;
  sendCommand?(...args: readonly unknown[]): Promise<unknown>;
  duplicate?(): NodeRedis & { connect(): Promise<unknown>; destroy(): void };
  on?(event: string, listener: () => void): unknown;
  subscribe?(channel: string, heard: NodeRedisListener): Promise<unknown>;
  unsubscribe?(channel: string, heard: NodeRedisListener): Promise<unknown>;
  /** A cluster has these two. */
  readonly masters?: readonly object[] | undefined;
  nodeClient?(node: object): NodeRedis | Promise<NodeRedis>;
  /** A sentinel has this one. */
  acquire?: unknown;
}

type NodeRedisListener = (message: string, channel: string) => void;

export function connect(client: RedisClientLike): Connection {
  if (has(client, { call: "function", status: "string" })) return connectIoredis(client as Ioredis);
  if (has(client, { evalSha: "function", eval: "function", isOpen: "boolean" })) {
    return connectNodeRedis(client as NodeRedis);
  }
  throw new InvalidInputError("redis.client", "must be a client of ioredis or node-redis.");
}

const has = (client: unknown, members: Readonly<Record<string, string>>): boolean =>
  typeof client === "object" &&
  client !== null &&
  Object.entries(members).every(([name, type]) => typeof Reflect.get(client, name) === type);

/** A connection for channels may wait until it is up, whatever the user wants of commands. */
const PATIENT = { enableOfflineQueue: true, lazyConnect: false };

function connectIoredis(client: Ioredis): Connection {
  const isCluster = client.isCluster === true;
  const { duplicate } = client;
  return {
    kind: isCluster ? "cluster" : "single",
    failsOver: isCluster || Boolean(client.options?.sentinels),
    isClosed: () => client.status === "end",
    run: (command, script, keys, args) =>
      client.call(command, script, String(keys.length), ...keys, ...args),
    primaries: async () =>
      (isCluster ? (client.nodes?.("master") ?? []) : [client]).map(
        (node): Command =>
          async (...command) =>
            node.call(...command),
      ),
    openChannels:
      duplicate &&
      ((heard) => {
        const own = duplicate.call(client, ...(isCluster ? [[], PATIENT] : [PATIENT]));
        // A broken subscription makes waiting slower, not wrong: callers also poll.
        own.on("error", () => {});
        own.on("message", heard);
        return {
          subscribe: (channel) => own.subscribe(channel),
          unsubscribe: (channel) => own.unsubscribe(channel),
          close: () => own.disconnect(),
        };
      }),
  };
}

function connectNodeRedis(user: NodeRedis): Connection {
  const client = plain(user);
  const isCluster = typeof user.nodeClient === "function";
  const isSentinel = typeof user.acquire === "function";
  return {
    kind: isCluster ? "cluster" : "single",
    failsOver: isCluster || isSentinel,
    isClosed: () => !user.isOpen,
    run: (command, script, keys, args) => {
      const options = { keys: [...keys], arguments: [...args] };
      return command === "EVAL" ? client.eval(script, options) : client.evalSha(script, options);
    },
    primaries: async () => {
      if (isSentinel) return [async (...command) => client.sendCommand?.(false, command)];
      const nodes = isCluster
        ? await Promise.all((user.masters ?? []).map((node) => user.nodeClient?.(node)))
        : [client];
      return nodes.map(
        (node): Command =>
          async (...command) =>
            node && plain(node).sendCommand?.(command),
      );
    },
    openChannels: channelsOf(user, isCluster || isSentinel),
  };
}

/** Gives texts as texts, also where the user's own mapping does not. */
const plain = (client: NodeRedis): NodeRedis => client.withTypeMapping?.({}) ?? client;

/** A cluster and a sentinel have a connection for channels of their own; a client is duplicated. */
function channelsOf(user: NodeRedis, hasOwn: boolean): Connection["openChannels"] {
  if (typeof user.subscribe !== "function") return undefined;
  return (heard) => {
    const listener: NodeRedisListener = (_message, channel) => heard(channel);
    const own = hasOwn ? undefined : user.duplicate?.();
    own?.on?.("error", () => {});
    const connected = own?.connect();
    connected?.catch(() => {});
    return {
      subscribe: async (channel) => {
        await connected;
        return (own ?? user).subscribe?.(channel, listener);
      },
      unsubscribe: async (channel) => {
        await connected;
        return (own ?? user).unsubscribe?.(channel, listener);
      },
      close: () => own?.destroy(),
    };
  };
}
