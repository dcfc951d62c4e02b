/**
 * The move by which an operation is taken, for all who take one (a call, a reconciler, a recorded sample, a
 * restored record), and the terms on which a tool's operation is claimed.
 *
 * @module
 */

import type { Draft, Lost, Move } from "../ledger/moves/moves.ts";
import type { OperationRecord } from "../ledger/record.ts";
import { declaredBy, recognisesRepeats, type Tool } from "./define/tool.ts";
import type { Engine } from "./engine.ts";
import type { Operation } from "./operation/operation.ts";

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

/** A settled operation is replayed and an open one is read: neither fires on this call's leave. */
export function wouldFire(
  { state, stateAt }: OperationRecord,
  { retry }: Operation,
  { ledger, timing }: Engine,
): boolean {
  if (state.tag === "held" || state.tag === "queued") return true;
  if (state.tag !== "not_applied") return false;
  if (retry !== undefined || state.reason === "rejected") return retry !== undefined;
  return state.reason === "resolved" || ledger.clock.latest() >= stateAt + timing.cooldownMs;
}
