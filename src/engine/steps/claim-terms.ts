/**
 * On what terms a tool's operation is claimed: for how long, on which promises, and with how much
 * trust in the store.
 *
 * @module
 */

import type { Lost } from "../../ledger/moves.ts";
import { declaredBy, recognisesRepeats, type Tool } from "../define/tool.ts";
import type { Engine } from "../engine.ts";
import { type ClaimMove, claimMove } from "../operation/claim-move.ts";
import type { Operation } from "../operation/operation.ts";

/** How long after an attempt's timeout its owner is still believed to be alive. */
const LEASE_MARGIN_MS = 15_000;
/** And the least of it: no attempt starts that its lease does not outlast. */
const LEAST_MARGIN_MS = 1_000;

/** How long an owner is believed alive without a sign, in milliseconds. */
export const leaseMsOf = ({ attemptTimeoutMs }: Tool, { timing }: Engine): number =>
  Math.max(
    timing.leaseMs ?? attemptTimeoutMs + LEASE_MARGIN_MS,
    attemptTimeoutMs + LEAST_MARGIN_MS,
  );

/** A claim of this operation on its tool's terms, and what else is told. */
export const claimOf = (
  { tool, draft }: Operation,
  told: Partial<ClaimMove> & Pick<ClaimMove, "holder">,
  engine: Engine,
): ClaimMove =>
  claimMove(draft, {
    leaseMs: leaseMsOf(tool, engine),
    declared: declaredBy(tool, engine.enlisted),
    cooldownMs: engine.timing.cooldownMs,
    powerless: !tool.readState && !recognisesRepeats(tool),
    at: engine.ledger.clock.earliest(),
    ...told,
  });

/** What the store may have lost, unless the caller vouches that there was nothing. */
export function lostBefore({ fresh, tool }: Operation, engine: Engine): Lost | undefined {
  const suspicion = engine.ledger.suspicion();
  if (!suspicion || fresh) return undefined;
  const leaseMs = tool.attemptTimeoutMs + LEASE_MARGIN_MS;
  return { since: suspicion.since, leaseMs, declared: declaredBy(tool, engine.enlisted) };
}
