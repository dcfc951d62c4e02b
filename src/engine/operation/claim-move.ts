/**
 * The move by which an operation is taken, for all who take one: a call, a reconciler, a sample that
 * is recorded, a record that is restored.
 *
 * @module
 */

import type { Draft, Move } from "../../ledger/moves.ts";

export type ClaimMove = Extract<Move, { move: "claim" }>;

/** The plainest claim of this draft; `told` is what this one has beyond it. */
export const claimMove = (
  draft: Draft,
  told: Partial<ClaimMove> & Pick<ClaimMove, "holder" | "leaseMs" | "at">,
): ClaimMove => ({
  move: "claim",
  draft,
  cooldownMs: 0,
  retry: false,
  powerless: false,
  ...told,
});
