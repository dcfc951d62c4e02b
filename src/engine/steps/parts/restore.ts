/**
 * A record that the store has lost, made anew from what this process knows of it.
 *
 * @module
 */

import { withUpdates } from "../../../ledger/moves/attempt-edits.ts";
import { plainClaim, withdrawClaim } from "../../claim-terms.ts";
import type { Engine } from "../../engine.ts";
import { type Owned, updatesOf } from "./ownership.ts";
import type { Settled } from "./settled-state.ts";

/** Writes down anew what is known of an operation whose record the store has lost; false if that failed. */
export async function restore(owned: Owned, state: Settled, engine: Engine): Promise<boolean> {
  const { operation, holder, leaseMs, stored } = owned;
  const at = engine.ledger.clock.latest();
  // An attempt that still runs stays so: it has no end but the one that was noted.
  const known = withUpdates(stored.record, updatesOf(owned));
  const claim = plainClaim(operation.draft, { holder, leaseMs, suspect: { known }, at });
  const claimed = await engine.persist(() => engine.ledger.move(operation.ref, claim));
  if (claimed === "closed" || claimed.tag !== "moved" || !claimed.stored) return false;
  const { epoch, createdAt } = claimed.stored.record;
  // Another process has made it anew meanwhile: nothing but a yes holds for what that one has sent, too.
  if (state.tag !== "committed" && createdAt !== known.createdAt) {
    await withdrawClaim(operation, holder, engine);
    return false;
  }
  const move = { move: "settle", epoch, holder, state, updates: [], at } as const;
  const settled = await engine.persist(() => engine.ledger.move(operation.ref, move));
  return settled !== "closed" && settled.tag === "moved";
}
