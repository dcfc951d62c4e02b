/**
 * p-retry: repeats what throws. It remembers nothing, so the same call again runs again.
 *
 * @module
 */

import pRetry from "p-retry";
import type { OpenGuard } from "../guard.ts";

export const open: OpenGuard = async (effect) => ({
  call: (order) => pRetry(() => effect(order), { retries: 3 }),
  async close() {},
});
