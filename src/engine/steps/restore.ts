/**
 * After a loss: the store no longer has the record of an open operation, so what is known of it is
 * written down anew.
 *
 * @module
 */

import type { State } from "../../ledger/record.ts";
import type { Engine } from "../engine.ts";
import { claimMove } from "../operation/claim-move.ts";
import type { Owned } from "./ownership.ts";
import type { Settled } from "./settled-state.ts";

export async function restore(
  owned: Owned,
  state: Settled,
  engine: Engine,
): Promise<State | undefined> {
  const { operation, holder, leaseMs } = owned;
  const at = engine.ledger.clock.latest();
  const suspect = { since: at, leaseMs };
  const claim = claimMove(operation.draft, { holder, leaseMs, suspect, at });
  const claimed = await engine.persist(() => engine.ledger.move(operation.ref, claim));
  if (claimed === "closed" || claimed.tag !== "moved" || !claimed.stored) return undefined;
  const { epoch } = claimed.stored.record;
  const endings = [{ n: claimed.stored.record.fired, endedAt: at }];
  const move = { move: "settle", epoch, state, endings, at } as const;
  const settled = await engine.persist(() => engine.ledger.move(operation.ref, move));
  return settled !== "closed" && settled.tag === "moved" ? state : undefined;
}
