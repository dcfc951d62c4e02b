/**
 * cockatiel: a retry policy with backoff. It remembers nothing, so the same call again runs again.
 *
 * @module
 */

import { ExponentialBackoff, handleAll, retry } from "cockatiel";
import type { OpenGuard } from "../guard.ts";

export const open: OpenGuard = async (effect) => {
  const policy = retry(handleAll, { maxAttempts: 3, backoff: new ExponentialBackoff() });
  return {
    call: (order) => policy.execute(() => effect(order)),
    async close() {},
  };
};
