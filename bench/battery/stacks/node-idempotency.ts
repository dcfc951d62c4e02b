/**
 * `@node-idempotency/core` with its own adapter for Redis: its two hooks around the tool, as its readme shows them and
 * as its NestJS interceptor calls them, with a failure stored as the answer. A second caller waits for the first.
 *
 * @module
 */

import { Idempotency, IdempotencyError, IdempotencyErrorCodes } from "@node-idempotency/core";
import { RedisStorageAdapter } from "@node-idempotency/storage-adapter-redis";
import { done, failed, inProgress, KEEPS_NOTHING, keyOf, type Stack } from "../stack.ts";
import { orderFrom, placeOrder, type Receipt } from "../tool-body.ts";

export const stack: Stack = {
  name: "node-idempotency",
  says: "@node-idempotency/core with its Redis adapter; a second caller waits for the first",
  packages: ["@node-idempotency/core", "@node-idempotency/storage-adapter-redis"],
  reads: false,
  isHoldfire: false,
  needs: ["redis"],
  async setUp(tool, place) {
    const storage = new RedisStorageAdapter({ url: place.redisUrl ?? "" });
    await storage.connect();
    const idempotency = new Idempotency(storage, {
      cacheKeyPrefix: place.name,
      inProgressStrategy: { wait: true },
    });
    return {
      ...KEEPS_NOTHING,
      async call(ask) {
        const key = keyOf(ask);
        // The body is its fingerprint: what is wanted, without the wording.
        const body = { item: ask.item, cents: ask.cents };
        const headers = { "idempotency-key": key };
        const request = { method: "POST", path: "/orders", headers, body };
        try {
          const known = await idempotency.onRequest<Receipt, string>(request);
          if (known?.error !== undefined) return failed(known.error);
          if (known) return done("done before");
        } catch (error) {
          const isAtIt =
            error instanceof IdempotencyError &&
            error.code === IdempotencyErrorCodes.REQUEST_IN_PROGRESS;
          return isAtIt ? inProgress(error) : failed(error);
        }
        try {
          const receipt = await placeOrder(tool, orderFrom(ask), { key });
          await idempotency.onResponse(request, { body: receipt });
          return done();
        } catch (error) {
          await idempotency.onResponse(request, { error: String(error) });
          return failed(error);
        }
      },
      close: () => storage.disconnect(),
    };
  },
};
