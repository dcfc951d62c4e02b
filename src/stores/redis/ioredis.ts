/**
 * Speaks to Redis through ioredis, single, sentinel or cluster.
 *
 * @module
 */

import type { IoredisLike } from "./client.ts";
import type { Connection, Subscriber } from "./connection.ts";

/** The rest of an ioredis client, as far as it is used. Absent in what only looks like one. */
interface Ioredis extends IoredisLike {
  readonly isCluster?: boolean | undefined;
  readonly options?: { readonly sentinels?: unknown } | undefined;
  nodes?(role: "master"): readonly IoredisLike[];
  duplicate?(...overrides: readonly unknown[]): IoredisSubscriber;
}

interface IoredisSubscriber {
  on(event: string, listener: (...args: never[]) => void): unknown;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  disconnect(): void;
}

/** A subscriber may wait for its connection, whatever the user wants of commands. */
const PATIENT = { enableOfflineQueue: true, lazyConnect: false };

export function connectIoredis(client: Ioredis): Connection {
  const isCluster = client.isCluster === true;
  const { duplicate } = client;
  return {
    kind: isCluster ? "cluster" : "single",
    failsOver: isCluster || Boolean(client.options?.sentinels),
    isClosed: () => client.status === "end",
    run: (command, script, keys, args) =>
      client.call(command, script, String(keys.length), ...keys, ...args),
    primaries: async () => {
      const nodes = isCluster ? (client.nodes?.("master") ?? []) : [client];
      return nodes.map(
        (node) =>
          async (name, ...args) =>
            node.call(name, ...args),
      );
    },
    subscriber:
      duplicate &&
      (() =>
        subscriberOn(
          isCluster ? duplicate.call(client, [], PATIENT) : duplicate.call(client, PATIENT),
        )),
  };
}

function subscriberOn(own: IoredisSubscriber): Subscriber {
  const listeners = new Map<string, (message: string) => void>();
  // Whoever waits also polls: a broken subscription is slower, not wrong.
  own.on("error", () => {});
  own.on("message", (channel: string, message: string) => listeners.get(channel)?.(message));
  return {
    async subscribe(channel, heard) {
      listeners.set(channel, heard);
      await own.subscribe(channel);
    },
    async unsubscribe(channel) {
      listeners.delete(channel);
      await own.unsubscribe(channel);
    },
    close() {
      own.disconnect();
    },
  };
}
