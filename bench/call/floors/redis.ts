/**
 * The least that a ledger on Redis does, written by hand: two round trips, `SET NX` and a script that
 * writes the outcome if the owner is still the same. The client is that of holdfire's case.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import type { OpenGuard } from "../guard.ts";
import { OWNER, receiptIn, rowOf } from "./row.ts";

const SETTLE = `
if redis.call('GETRANGE', KEYS[1], '0', #ARGV[1] - 1) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`;
const SETTLE_SHA = createHash("sha1").update(SETTLE).digest("hex");

export const open: OpenGuard = async (effect, { redisUrl, name }) => {
  const client = new Redis(redisUrl, { maxRetriesPerRequest: 1 });
  await client.script("LOAD", SETTLE);
  return {
    async call(order) {
      const row = rowOf(order);
      const key = `${name}:${row.key}`;
      const known = await client.set(key, OWNER + row.claimed, "NX", "GET");
      if (known !== null) return receiptIn(known);
      const receipt = await effect(order);
      await client.evalsha(SETTLE_SHA, 1, key, OWNER, row.settled(receipt));
      return receipt;
    },
    close: async () => void (await client.quit()),
  };
};
