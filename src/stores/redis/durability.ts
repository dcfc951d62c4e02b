/**
 * What a Redis promises to keep, by the settings that each primary reports. Whatever is not known
 * counts as not promised.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { StorePromise } from "../../ledger/store.ts";
import type { Command, Connection } from "./client.ts";

/** What a Redis may be told in its configuration, as far as a ledger depends on it. */
export interface RedisDurability {
  /** `appendonly` of redis.conf. */
  readonly appendonly?: "yes" | "no" | undefined;
  /** `appendfsync` of redis.conf. */
  readonly appendfsync?: "always" | "everysec" | "no" | undefined;
  /** `maxmemory-policy` of redis.conf, e.g. `"noeviction"`. */
  readonly maxmemoryPolicy?: string | undefined;
}

/** What one primary reports; `undefined` is what it does not tell. */
interface ServerSettings {
  readonly appendonly: string | undefined;
  readonly appendfsync: string | undefined;
  readonly maxmemoryPolicy: string | undefined;
  /** `"master"` or `"slave"`. */
  readonly role: string | undefined;
  /** `"standalone"`, `"cluster"` or `"sentinel"`. */
  readonly mode: string | undefined;
  readonly replicas: number | undefined;
}

/** The promise before the settings were read. */
export const unreadPromise = (accepted: boolean): StorePromise => ({
  survives: "process",
  mayForget: true,
  forgettingAccepted: accepted,
  text: "Kept in Redis; its settings were not read yet.",
});

/** Reads the settings, and refuses a server that could not keep a ledger at all. */
export async function readPromise(
  connection: Connection,
  declared: RedisDurability | undefined,
  accepted: boolean,
): Promise<StorePromise> {
  const primaries = await connection.primaries();
  const servers = await Promise.all(primaries.map((ask) => settingsOf(ask, declared)));
  for (const server of servers) assertWritable(server, connection.kind);
  return promiseOf(servers, { failsOver: connection.failsOver, accepted });
}

export function promiseOf(
  servers: readonly ServerSettings[],
  { failsOver, accepted }: { readonly failsOver: boolean; readonly accepted: boolean },
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

const isKnown = ({ appendonly, appendfsync, maxmemoryPolicy, role }: ServerSettings): boolean =>
  [appendonly, appendfsync, maxmemoryPolicy, role].every((setting) => setting !== undefined);

function assertWritable({ role, mode }: ServerSettings, kind: Connection["kind"]): void {
  const refuse = (why: string) => new InvalidInputError("redis.client", why);
  if (role === "slave") throw refuse("is connected to a replica; pass the primary.");
  if (mode === "sentinel") throw refuse("is connected to a sentinel, which keeps no data.");
  if (mode === "cluster" && kind === "single") {
    throw refuse("is connected to one node of a cluster; pass a cluster client.");
  }
}

/** What the user declares counts only where the server does not tell. */
async function settingsOf(ask: Command, declared: RedisDurability = {}): Promise<ServerSettings> {
  const [appendonly, appendfsync, maxmemoryPolicy, replication, server] = await Promise.all([
    configured(ask, "appendonly"),
    configured(ask, "appendfsync"),
    configured(ask, "maxmemory-policy"),
    informed(ask, "replication"),
    informed(ask, "server"),
  ]);
  const replicas = replication.get("connected_slaves");
  return {
    appendonly: appendonly ?? declared.appendonly,
    appendfsync: appendfsync ?? declared.appendfsync,
    maxmemoryPolicy: maxmemoryPolicy ?? declared.maxmemoryPolicy,
    role: replication.get("role"),
    mode: server.get("redis_mode"),
    replicas: replicas === undefined ? undefined : Number(replicas),
  };
}

/** Managed servers forbid CONFIG; a broken connection shows in the commands that follow. */
async function configured(ask: Command, name: string): Promise<string | undefined> {
  const reply: unknown = await ask("CONFIG", "GET", name).catch(() => undefined);
  // A list of name and value, a map or an object, by client and protocol.
  const value: unknown = Array.isArray(reply)
    ? reply[1]
    : reply instanceof Map
      ? reply.get(name)
      : (reply as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return value === undefined ? undefined : String(value);
}

async function informed(ask: Command, section: string): Promise<ReadonlyMap<string, string>> {
  const reply = await ask("INFO", section).catch(() => "");
  const lines = String(reply).matchAll(/^(\w+):(.*?)\r?$/gm);
  return new Map([...lines].map(([, name = "", value = ""]) => [name, value]));
}
