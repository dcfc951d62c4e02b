/**
 * AWS Lambda Powertools idempotency on Redis, with the cache layer of its documentation: `makeIdempotent` around the
 * tool, the key chosen by `eventKeyJmesPath` so that wording is no part of it, and a Lambda context with the time that
 * is left. The function sends the same key to the service.
 *
 * @module
 */

import {
  IdempotencyAlreadyInProgressError,
  IdempotencyConfig,
  makeIdempotent,
} from "@aws-lambda-powertools/idempotency";
import { CachePersistenceLayer } from "@aws-lambda-powertools/idempotency/cache";
import { createClient } from "redis";
import { type Ask, done, failed, inProgress, KEEPS_NOTHING, keyOf, type Stack } from "../stack.ts";
import { orderFrom, placeOrder } from "../tool-body.ts";

/** What a Lambda has left when it is called: more than any request of the battery takes. */
const REMAINING_MS = 10_000;

export const stack: Stack = {
  name: "Powertools",
  says: "AWS Powertools idempotency, its cache layer on Redis, the key by eventKeyJmesPath",
  packages: ["@aws-lambda-powertools/idempotency"],
  reads: false,
  isHoldfire: false,
  needs: ["redis"],
  async setUp(tool, place) {
    const client = createClient({ url: place.redisUrl ?? "" });
    client.on("error", () => {});
    await client.connect();
    const persistenceStore = new CachePersistenceLayer({ client });
    const config = new IdempotencyConfig({ eventKeyJmesPath: "key" });
    config.registerLambdaContext({
      getRemainingTimeInMillis: () => REMAINING_MS,
    } as Parameters<typeof config.registerLambdaContext>[0]);
    const order = makeIdempotent(
      async ({ key, ask }: { readonly key: string; readonly ask: Ask }) => ({
        ...(await placeOrder(tool, orderFrom(ask), { key })),
      }),
      { persistenceStore, config, keyPrefix: place.name },
    );
    return {
      ...KEEPS_NOTHING,
      async call(ask) {
        try {
          await order({ key: keyOf(ask), ask });
          return done();
        } catch (error) {
          // It says that another one is at it, not that this one failed.
          return error instanceof IdempotencyAlreadyInProgressError
            ? inProgress(error)
            : failed(error);
        }
      },
      async close() {
        client.destroy();
      },
    };
  },
};
