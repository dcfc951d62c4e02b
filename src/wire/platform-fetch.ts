/**
 * What the `fetch` of Bun and Deno does otherwise than Node's. They publish nothing of its requests, so only those of
 * `context.fetch` are seen; and where a kept-alive connection breaks, they send a request a second time by
 * themselves: Deno every one, Bun those whose method is idempotent.
 *
 * @module
 */

import { peek, tryCall } from "../lang/peek.ts";
import type { Init } from "./request-identity.ts";

/** Node's `fetch` is undici, whose requests are published. */
export const showsFetch = (platform: object = globalThis): boolean =>
  versionOf(platform, "undici") !== undefined;

/** As given; a write of Bun or Deno gets a connection of its own, which the platform cannot take for a broken old one. */
export function onOwnConnection(isWrite: boolean, init: Init, platform: object = globalThis): Init {
  const own = isWrite ? ownConnection(platform) : undefined;
  return own ? { ...init, ...own } : init;
}

const clients = new WeakMap<object, object>();

function ownConnection(platform: object): object | undefined {
  if (versionOf(platform, "bun") !== undefined) return { keepalive: false };
  const deno = peek(platform, "Deno");
  if (typeof deno !== "object" || deno === null) return undefined;
  const client = clients.get(deno) ?? tryCall(deno, "createHttpClient", { poolMaxIdlePerHost: 0 });
  if (typeof client !== "object" || client === null) return undefined;
  clients.set(deno, client);
  return { client };
}

const versionOf = (platform: object, name: string): unknown =>
  peek(peek(peek(platform, "process"), "versions"), name);
