/**
 * What a Redis can be trusted with, judged by what it says of itself.
 *
 * Pure. Whatever is not known counts as not promised.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { StorePromise } from "../../ledger/store.ts";
import type { ServerSettings } from "./settings.ts";

export interface Circumstances {
  readonly kind: "single" | "cluster";
  /** Whether the client follows a failover by itself. */
  readonly failsOver: boolean;
  /** The user accepted, by name, that it may forget. */
  readonly accepted: boolean;
}

/** Before anybody has asked. */
export const unasked = (accepted: boolean): StorePromise => ({
  survives: "process",
  mayForget: true,
  forgettingAccepted: accepted,
  text: "Kept in Redis, which was not asked yet what it survives.",
});

export function promiseOf(
  servers: readonly ServerSettings[],
  { failsOver, accepted }: Circumstances,
): StorePromise {
  const every = (test: (server: ServerSettings) => boolean): boolean =>
    servers.length > 0 && servers.every(test);
  const logs = every(({ appendonly }) => appendonly === "yes");
  const syncs = logs && every(({ appendfsync }) => appendfsync === "always");
  const doubts: string[] = [];
  if (!every(isKnown)) doubts.push("it does not tell all its settings");
  if (!logs) doubts.push("a restart loses what no append-only file keeps");
  else if (!syncs) doubts.push("a power cut loses what was not synced yet (appendfsync)");
  if (!every(({ maxmemoryPolicy }) => maxmemoryPolicy === "noeviction")) {
    doubts.push("full memory may evict records (maxmemory-policy)");
  }
  if (failsOver || !every(({ replicas }) => replicas === 0)) {
    doubts.push("a failover may promote a replica that lags");
  }
  const mayForget = doubts.length > 0;
  return {
    survives: syncs ? "host" : "process",
    mayForget,
    forgettingAccepted: accepted,
    text: mayForget
      ? `Kept in Redis, which may forget: ${doubts.join("; ")}.`
      : "Kept in Redis, on disk before it is acknowledged; a lost disk is a lost ledger.",
  };
}

/** Refuses servers that could not keep a ledger at all. */
export function assertWritable(
  servers: readonly ServerSettings[],
  { kind }: Pick<Circumstances, "kind">,
): void {
  for (const { role, mode } of servers) {
    if (role === "slave") {
      throw new InvalidInputError("redis.client", "is connected to a replica; pass the primary.");
    }
    if (mode === "sentinel") {
      throw new InvalidInputError(
        "redis.client",
        "is connected to a sentinel, which keeps no data.",
      );
    }
    if (mode === "cluster" && kind === "single") {
      throw new InvalidInputError(
        "redis.client",
        "is connected to one node of a cluster; pass a cluster client.",
      );
    }
  }
}

const isKnown = ({ appendonly, appendfsync, maxmemoryPolicy, role }: ServerSettings): boolean =>
  appendonly !== undefined &&
  appendfsync !== undefined &&
  maxmemoryPolicy !== undefined &&
  role !== undefined;
