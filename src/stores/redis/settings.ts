/**
 * Asks each primary how it keeps what it is told. What it will not say is left out.
 *
 * @module
 */

import type { Connection, PlainCommand } from "./connection.ts";

/** What a Redis may be told in its configuration, as far as a ledger depends on it. */
export interface RedisDurability {
  /** `appendonly` of redis.conf. */
  readonly appendonly?: "yes" | "no" | undefined;
  /** `appendfsync` of redis.conf. */
  readonly appendfsync?: "always" | "everysec" | "no" | undefined;
  /** `maxmemory-policy` of redis.conf, e.g. `"noeviction"`. */
  readonly maxmemoryPolicy?: string | undefined;
}

/** What one primary says of itself. */
export interface ServerSettings {
  readonly appendonly: string | undefined;
  readonly appendfsync: string | undefined;
  readonly maxmemoryPolicy: string | undefined;
  /** `"master"` or `"slave"`. */
  readonly role: string | undefined;
  /** `"standalone"`, `"cluster"` or `"sentinel"`. */
  readonly mode: string | undefined;
  readonly replicas: number | undefined;
}

/** What the user declares counts only where the server does not say. */
export async function readSettings(
  connection: Connection,
  declared: RedisDurability = {},
): Promise<readonly ServerSettings[]> {
  const primaries = await connection.primaries();
  return Promise.all(primaries.map((ask) => settingsOf(ask, declared)));
}

async function settingsOf(ask: PlainCommand, declared: RedisDurability): Promise<ServerSettings> {
  const [appendonly, appendfsync, maxmemoryPolicy, replication, server] = await Promise.all([
    configured(ask, "appendonly"),
    configured(ask, "appendfsync"),
    configured(ask, "maxmemory-policy"),
    informed(ask, "replication"),
    informed(ask, "server"),
  ]);
  const replicas = Number(replication.get("connected_slaves") ?? Number.NaN);
  return {
    appendonly: appendonly ?? declared.appendonly,
    appendfsync: appendfsync ?? declared.appendfsync,
    maxmemoryPolicy: maxmemoryPolicy ?? declared.maxmemoryPolicy,
    role: replication.get("role"),
    mode: server.get("redis_mode"),
    replicas: Number.isSafeInteger(replicas) ? replicas : undefined,
  };
}

/** Managed servers forbid CONFIG; a broken connection shows in the commands that come after. */
async function configured(ask: PlainCommand, name: string): Promise<string | undefined> {
  const reply = await ask("CONFIG", "GET", name).catch(() => undefined);
  return pairsIn(reply).get(name);
}

/** Clients give a list of names and values, a map or an object, as the protocol is. */
function pairsIn(reply: unknown): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  if (Array.isArray(reply)) {
    for (let index = 0; index + 1 < reply.length; index += 2) {
      pairs.set(String(reply[index]), String(reply[index + 1]));
    }
  } else if (typeof reply === "object" && reply !== null) {
    const entries = reply instanceof Map ? reply : Object.entries(reply);
    for (const [name, value] of entries) pairs.set(String(name), String(value));
  }
  return pairs;
}

async function informed(ask: PlainCommand, section: string): Promise<ReadonlyMap<string, string>> {
  const reply = await ask("INFO", section).catch(() => undefined);
  const lines = typeof reply === "string" ? reply.split("\n") : [];
  return new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
}
