/**
 * AWS Lambda Powertools idempotency on Redis, with its own layer for caches and node-redis.
 *
 * @module
 */

import { CachePersistenceLayer } from "@aws-lambda-powertools/idempotency/cache";
import type { CacheClient } from "@aws-lambda-powertools/idempotency/cache/types";
import { createClient } from "redis";
import type { OpenGuard } from "../guard.ts";
import { guardWith } from "./powertools.ts";

export const open: OpenGuard = async (effect, { redisUrl, name }) => {
  const client = createClient({ url: redisUrl });
  await client.connect();
  // Its keys begin with the name of the function, which is read here.
  process.env.AWS_LAMBDA_FUNCTION_NAME = name;
  const layer = new CachePersistenceLayer({ client: client as unknown as CacheClient });
  return guardWith(effect, layer, () => client.close());
};
