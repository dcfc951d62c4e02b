/**
 * Speaks to Redis through node-redis: a client, a pool, a sentinel or a cluster.
 *
 * @module
 */

import type { NodeRedisLike } from "./client.ts";
import type { Connection, PlainCommand, Subscriber } from "./connection.ts";

/** The rest of a node-redis client, as far as it is used; each kind has some of it. */
interface NodeRedis extends NodeRedisLike {
  /** Gives back texts as texts, also where the user's own mapping does not. */
  withTypeMapping?(mapping: object): NodeRedis;
  sendCommand?(...args: readonly unknown[]): Promise<unknown>;
  duplicate?(): NodeRedisSubscriber & { connect(): Promise<unknown>; destroy(): void };
  on?: NodeRedisSubscriber["on"];
  subscribe?: NodeRedisSubscriber["subscribe"];
  unsubscribe?: NodeRedisSubscriber["unsubscribe"];
  /** A cluster has these two. */
  readonly masters?: readonly object[] | undefined;
  nodeClient?(node: object): NodeRedis | Promise<NodeRedis>;
  /** A sentinel has this one. */
  acquire?: unknown;
}

interface NodeRedisSubscriber {
  on(event: string, listener: (...args: never[]) => void): unknown;
  subscribe(channel: string, heard: (message: string) => void): Promise<unknown>;
  unsubscribe(channel: string, heard?: (message: string) => void): Promise<unknown>;
}

export function connectNodeRedis(user: NodeRedis): Connection {
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
      if (!isCluster) return [commandsOf(client, isSentinel)];
      const nodes = await Promise.all((user.masters ?? []).map((node) => user.nodeClient?.(node)));
      return nodes.flatMap((node) => (node ? [commandsOf(plain(node), false)] : []));
    },
    subscriber: subscriberOf(user, isCluster || isSentinel),
  };
}

const plain = (client: NodeRedis): NodeRedis => client.withTypeMapping?.({}) ?? client;

function commandsOf(client: NodeRedis, isSentinel: boolean): PlainCommand {
  return async (...command) =>
    isSentinel ? client.sendCommand?.(false, command) : client.sendCommand?.(command);
}

/** A cluster and a sentinel keep a connection for channels themselves; a client is duplicated. */
function subscriberOf(user: NodeRedis, keepsOne: boolean): Connection["subscriber"] {
  const { duplicate, subscribe } = user;
  if (typeof subscribe !== "function") return undefined;
  if (keepsOne) return () => subscriberOn(user as NodeRedisSubscriber, async () => {});
  if (typeof duplicate !== "function") return undefined;
  return () => {
    const own = duplicate.call(user);
    // Whoever waits also polls: a broken subscription is slower, not wrong.
    own.on("error", () => {});
    let connecting: Promise<unknown> | undefined;
    const subscriber = subscriberOn(own, async () => {
      connecting ??= own.connect().catch((error: unknown) => {
        connecting = undefined;
        throw error;
      });
      await connecting;
    });
    return { ...subscriber, close: () => own.destroy() };
  };
}

function subscriberOn(client: NodeRedisSubscriber, connected: () => Promise<void>): Subscriber {
  const listeners = new Map<string, (message: string) => void>();
  const unsubscribe = async (channel: string): Promise<void> => {
    const heard = listeners.get(channel);
    listeners.delete(channel);
    if (heard) await client.unsubscribe(channel, heard);
  };
  return {
    async subscribe(channel, heard) {
      await connected();
      listeners.set(channel, heard);
      await client.subscribe(channel, heard);
    },
    unsubscribe,
    close() {
      for (const channel of listeners.keys()) unsubscribe(channel).catch(() => {});
    },
  };
}
