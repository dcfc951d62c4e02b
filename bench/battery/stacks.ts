/**
 * The stacks of the battery, by the name of their file. A worker loads only its own.
 *
 * @module
 */

import type { Stack } from "./stack.ts";

export const STACK_IDS = [
  "p_retry",
  "sdk",
  "simple",
  "powertools",
  "node_idempotency",
  "dbos",
  "restate",
  "memory",
  "sqlite",
  "redis",
  "postgres",
] as const;

/** Stacks that do wrong on purpose, by which the battery itself is tested. In no table. */
export const PLANTED_IDS = [
  "planted_twice",
  "planted_loses",
  "planted_lies",
  "planted_holds",
] as const;

export type StackId = (typeof STACK_IDS)[number] | (typeof PLANTED_IDS)[number];

const LOADERS: Readonly<Record<StackId, () => Promise<Stack>>> = {
  p_retry: async () => (await import("./stacks/p-retry.ts")).stack,
  sdk: async () => (await import("./stacks/stripe.ts")).stack,
  simple: async () => (await import("./stacks/simple-policy.ts")).stack,
  powertools: async () => (await import("./stacks/powertools.ts")).stack,
  node_idempotency: async () => (await import("./stacks/node-idempotency.ts")).stack,
  dbos: async () => (await import("./stacks/dbos.ts")).stack,
  restate: async () => (await import("./stacks/restate.ts")).stack,
  memory: async () => (await import("./stacks/holdfire.ts")).memory,
  sqlite: async () => (await import("./stacks/holdfire.ts")).sqlite,
  redis: async () => (await import("./stacks/holdfire.ts")).redis,
  postgres: async () => (await import("./stacks/holdfire.ts")).postgres,
  planted_twice: async () => (await import("./stacks/planted.ts")).twice,
  planted_loses: async () => (await import("./stacks/planted.ts")).loses,
  planted_lies: async () => (await import("./stacks/planted.ts")).lies,
  planted_holds: async () => (await import("./stacks/planted.ts")).holds,
};

export const loadStack = (id: StackId): Promise<Stack> => LOADERS[id]();
