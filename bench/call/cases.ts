/**
 * The cases that `npm run bench` and `npm run bench:call` measure: holdfire on each store, what people
 * use instead, and the floor: the same writes by hand, without anything else.
 *
 * @module
 */

import type { OpenGuard } from "./guard.ts";
import { openHoldfire, type StoreName } from "./holdfire.ts";

/** Plain data, because a case is handed to a process of its own. */
export interface Case {
  readonly name: string;
  /** What it keeps its memory in; cases of one group are compared. */
  readonly group: StoreName;
  readonly guard:
    | { readonly tag: "holdfire"; readonly checkout: string }
    | { readonly tag: "peer"; readonly peer: PeerName };
}

export type PeerName =
  | "bare"
  | "p-retry"
  | "cockatiel"
  | "powertools"
  | "powertools-redis"
  | "node-idempotency"
  | "node-idempotency-redis"
  | "dbos"
  | "restate"
  | "sqlite-grouped"
  | "sqlite-grouped-hashed"
  | "sqlite-per-call"
  | "redis-trips"
  | "postgres-batched";

const PEERS: Record<PeerName, () => Promise<OpenGuard>> = {
  bare: async () => (await import("./peers/bare.ts")).open,
  "p-retry": async () => (await import("./peers/p-retry.ts")).open,
  cockatiel: async () => (await import("./peers/cockatiel.ts")).open,
  powertools: async () => (await import("./peers/powertools.ts")).open,
  "powertools-redis": async () => (await import("./peers/powertools-redis.ts")).open,
  "node-idempotency": async () => (await import("./peers/node-idempotency.ts")).open,
  "node-idempotency-redis": async () => (await import("./peers/node-idempotency-redis.ts")).open,
  dbos: async () => (await import("./peers/dbos.ts")).open,
  restate: async () => (await import("./peers/restate.ts")).open,
  "sqlite-grouped": async () => (await import("./floors/sqlite.ts")).grouped,
  "sqlite-grouped-hashed": async () => (await import("./floors/sqlite.ts")).groupedHashed,
  "sqlite-per-call": async () => (await import("./floors/sqlite.ts")).perCall,
  "redis-trips": async () => (await import("./floors/redis.ts")).open,
  "postgres-batched": async () => (await import("./floors/postgres.ts")).open,
};

export const GROUPS: readonly StoreName[] = ["memory", "sqlite", "redis", "postgres"];

export const HOLDFIRE = "holdfire";
export const GROUP_COMMIT = "floor: group commit";
export const GROUP_COMMIT_HASHED = "floor: group commit, keys are hashes";
export const PER_CALL = "floor: one commit per call";
export const TWO_TRIPS = "floor: two round trips";
export const BATCHED = "floor: batched statements";
export const DBOS = "DBOS step";
export const POWERTOOLS = "AWS Powertools";
export const NODE_IDEMPOTENCY = "node-idempotency";

/** What people use in place of holdfire. */
const INSTEAD: Readonly<Record<StoreName, readonly (readonly [string, PeerName])[]>> = {
  memory: [
    ["bare await", "bare"],
    ["p-retry", "p-retry"],
    ["cockatiel", "cockatiel"],
    [NODE_IDEMPOTENCY, "node-idempotency"],
    [POWERTOOLS, "powertools"],
  ],
  sqlite: [],
  redis: [
    [NODE_IDEMPOTENCY, "node-idempotency-redis"],
    [POWERTOOLS, "powertools-redis"],
  ],
  postgres: [[DBOS, "dbos"]],
};

/** Slow to start or to measure, so only the whole suite has them. */
const BESIDE: Readonly<Record<StoreName, readonly (readonly [string, PeerName])[]>> = {
  memory: [],
  sqlite: [
    [GROUP_COMMIT, "sqlite-grouped"],
    [GROUP_COMMIT_HASHED, "sqlite-grouped-hashed"],
    [PER_CALL, "sqlite-per-call"],
  ],
  redis: [[TWO_TRIPS, "redis-trips"]],
  postgres: [
    [BATCHED, "postgres-batched"],
    ["Restate ctx.run", "restate"],
  ],
};

const peersFrom = (group: StoreName, peers: typeof INSTEAD): Case[] =>
  peers[group].map(([name, peer]) => ({ name, group, guard: { tag: "peer", peer } }));

const holdfireCase = (name: string, group: StoreName, checkout: string): Case => ({
  name,
  group,
  guard: { tag: "holdfire", checkout },
});

/** holdfire beside what people use in its place, and beside an older checkout of it if one is named. */
export const casesOf = (group: StoreName, checkout: string, against?: string): Case[] => [
  ...peersFrom(group, INSTEAD),
  holdfireCase(HOLDFIRE, group, checkout),
  ...(against === undefined ? [] : [holdfireCase("holdfire before", group, against)]),
];

/** The same with the floors, and with Restate. */
export const allCasesOf = (group: StoreName, checkout: string): Case[] => [
  ...peersFrom(group, BESIDE),
  ...casesOf(group, checkout),
];

export async function guardOf({ guard, group }: Case): Promise<OpenGuard> {
  if (guard.tag === "holdfire") return openHoldfire(guard.checkout, group);
  return PEERS[guard.peer]();
}
