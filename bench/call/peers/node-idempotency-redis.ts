/**
 * `@node-idempotency/core` on Redis, with the commands of its own adapter on the node-redis that is
 * installed here; the adapter brings an older one.
 *
 * @module
 */

import { createClient } from "redis";
import type { OpenGuard } from "../guard.ts";
import { guardWith } from "./node-idempotency.ts";

export const open: OpenGuard = async (effect, { redisUrl, name }) => {
  const client = createClient({ url: redisUrl });
  await client.connect();
  const expiring = (ttl: number | undefined) =>
    ttl === undefined ? {} : { expiration: { type: "PX" as const, value: ttl } };
  const storage = {
    setIfNotExists: async (key: string, value: string, { ttl }: { ttl?: number } = {}) =>
      (await client.set(key, value, { condition: "NX", ...expiring(ttl) })) !== null,
    async set(key: string, value: string, { ttl }: { ttl?: number }) {
      await client.set(key, value, expiring(ttl));
    },
    get: async (key: string) => (await client.get(key)) ?? undefined,
  };
  return guardWith(effect, storage, { cacheKeyPrefix: name }, () => client.close());
};
