/**
 * No guard at all: the floor. What is left is the loop of the bench.
 *
 * @module
 */

import type { OpenGuard } from "../guard.ts";

export const open: OpenGuard = async (effect) => ({
  call: async (order) => await effect(order),
  async close() {},
});
