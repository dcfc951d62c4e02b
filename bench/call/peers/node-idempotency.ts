/**
 * `@node-idempotency/core` with its own adapter for memory. Its two hooks are made for HTTP servers;
 * around a function they are called as its middleware calls them.
 *
 * @module
 */

import { Idempotency, type IdempotencyOptions } from "@node-idempotency/core";
import { MemoryStorageAdapter } from "@node-idempotency/storage-adapter-memory";
import { type Effect, type Guard, type OpenGuard, type Receipt, requestOf } from "../guard.ts";

export const open: OpenGuard = async (effect) => guardWith(effect, new MemoryStorageAdapter());

export function guardWith(
  effect: Effect,
  storage: ConstructorParameters<typeof Idempotency>[0],
  options: IdempotencyOptions = {},
  close: () => unknown = () => {},
): Guard {
  const idempotency = new Idempotency(storage, options);
  return {
    async call(order) {
      const request = {
        method: "POST",
        path: "/orders",
        headers: { "idempotency-key": requestOf(order) },
        body: { ...order },
      };
      const known = await idempotency.onRequest<Receipt, unknown>(request);
      if (known?.body) return known.body;
      const body = await effect(order);
      await idempotency.onResponse(request, { body });
      return body;
    },
    async close() {
      await close();
    },
  };
}
