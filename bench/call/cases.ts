/**
 * The cases of `npm run bench:call`: holdfire on each store, and beside it what people use instead.
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

type PeerName = "bare" | "p-retry" | "cockatiel" | "powertools" | "node-idempotency" | "dbos";

const PEERS: Record<PeerName, () => Promise<{ readonly open: OpenGuard }>> = {
  bare: () => import("./peers/bare.ts"),
  "p-retry": () => import("./peers/p-retry.ts"),
  cockatiel: () => import("./peers/cockatiel.ts"),
  powertools: () => import("./peers/powertools.ts"),
  "node-idempotency": () => import("./peers/node-idempotency.ts"),
  dbos: () => import("./peers/dbos.ts"),
};

export const GROUPS: readonly StoreName[] = ["memory", "sqlite", "redis", "postgres"];

export const HOLDFIRE = "holdfire";

export function casesOf(group: StoreName, checkout: string, against?: string): Case[] {
  const peers: readonly [string, PeerName][] =
    group === "memory"
      ? [
          ["bare await", "bare"],
          ["p-retry", "p-retry"],
          ["cockatiel", "cockatiel"],
          ["node-idempotency", "node-idempotency"],
          ["AWS Powertools", "powertools"],
        ]
      : group === "postgres"
        ? [["DBOS step", "dbos"]]
        : [];
  const own: readonly [string, string | undefined][] = [
    [HOLDFIRE, checkout],
    ["holdfire before", against],
  ];
  return [
    ...peers.map(([name, peer]): Case => ({ name, group, guard: { tag: "peer", peer } })),
    ...own.flatMap(([name, from]): Case[] =>
      from === undefined ? [] : [{ name, group, guard: { tag: "holdfire", checkout: from } }],
    ),
  ];
}

export async function guardOf({ guard, group }: Case): Promise<OpenGuard> {
  if (guard.tag === "holdfire") return openHoldfire(guard.checkout, group);
  return (await PEERS[guard.peer]()).open;
}
