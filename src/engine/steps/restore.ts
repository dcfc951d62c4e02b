/**
 * After a loss: what is known of an operation is written down anew, so that it is not lost with its
 * record.
 *
 * @module
 */

import type { State } from "../../ledger/record.ts";
import type { Engine } from "../engine.ts";
import type { Owned } from "./ownership.ts";

type Settled = Extract<State, { tag: "committed" | "not_applied" | "unknown" }>;

/** The store has lost the record of an open operation: what is known of it is written down anew. */
export async function restore(
  owned: Owned,
  state: Settled,
  engine: Engine,
): Promise<State | undefined> {
  const { operation, holder, leaseMs } = owned;
  const at = engine.ledger.clock.latest();
  const claim = {
    move: "claim",
    draft: operation.draft,
    holder,
    leaseMs,
    cooldownMs: 0,
    retry: false,
    powerless: false,
    suspect: { since: at, leaseMs },
    at,
  } as const;
  const claimed = await engine.persist(() => engine.ledger.move(operation.ref, claim));
  if (claimed === "closed" || claimed.tag !== "moved" || !claimed.stored) return undefined;
  const { epoch } = claimed.stored.record;
  const endings = [{ n: claimed.stored.record.fired, endedAt: at }];
  const move = { move: "settle", epoch, state, endings, at } as const;
  const settled = await engine.persist(() => engine.ledger.move(operation.ref, move));
  return settled !== "closed" && settled.tag === "moved" ? state : undefined;
}
