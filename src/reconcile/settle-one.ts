/**
 * One open operation: an execution without a caller, which reads and, only if asked, resends under the keyed licence. What
 * is decided is decided by the engine.
 *
 * @module
 */

import { executeDetached } from "../engine/call/join.ts";
import { recognisesRepeats, type Tool } from "../engine/define/tool.ts";
import type { Engine } from "../engine/engine.ts";
import type { Outcome } from "../engine/operation/outcome.ts";
import { conclude } from "../engine/run.ts";
import { wireKey } from "../key/mint.ts";
import { showScope } from "../key/scope.ts";
import type { OperationRecord, Stored, UnknownReason } from "../ledger/record.ts";
import { recall } from "./operation-of.ts";
import type { StillUnknown } from "./report.ts";
import { settleUnlessUnchanged, takeOver } from "./take-over.ts";

export type Settled =
  | { readonly tag: "busy" }
  | { readonly tag: "committed" | "not_applied"; readonly resent: number }
  | { readonly tag: "unknown"; readonly operation: StillUnknown; readonly resent: number };

export interface How {
  readonly resend: boolean;
  readonly signal: AbortSignal | undefined;
}

/** What needs longer than this many reads is left to the next pass. */
const READS = 2;

export async function settleOne(
  listed: Stored,
  tool: Tool,
  { resend, signal }: How,
  engine: Engine,
): Promise<Settled> {
  const { record } = listed;
  const recalled = recall(record, tool, engine);
  if (!recalled) return unknown(record, reasonOf(record), "intent_unreadable", 0);
  const { operation, sameArguments } = recalled;
  const sends = resend && recognisesRepeats(tool);
  const resends = sends && sameArguments;
  const bounds = resends
    ? ({ fireMode: "by_key", signal, deadlineMs: tool.deadlineMs } as const)
    : ({ fireMode: "never", signal: undefined, deadlineMs: READS * tool.readTimeoutMs } as const);
  const outcome = await executeDetached(operation, bounds, engine, async (execution) => {
    const claim = await takeOver(execution, listed, engine);
    return claim.tag === "known"
      ? claim.outcome
      : conclude(claim.owned, engine, settleUnlessUnchanged);
  }).catch((error: unknown): Outcome<unknown> | undefined => {
    engine.events.emit("store", () => ({ status: "error", step: "reconcile", error }));
    return undefined;
  });
  const because = sends && !resends ? "arguments_not_kept" : undefined;
  if (!outcome) return unknown(record, "store_down", because, 0);
  const resent = Math.max(outcome.attempts - record.fired, 0);
  if (outcome.status === "unknown") {
    const blind = !tool.readState && !resends;
    return unknown(record, outcome.reason, because ?? (blind ? "no_reader" : undefined), resent);
  }
  // Somebody else was faster.
  if (outcome.replayed || outcome.status === "in_progress") return { tag: "busy" };
  return { tag: outcome.status === "committed" ? "committed" : "not_applied", resent };
}

const unknown = (
  record: OperationRecord,
  reason: UnknownReason,
  because: StillUnknown["because"],
  resent: number,
): Settled => {
  const { id, generation, tool, scope } = record;
  const key = wireKey(id, generation);
  return {
    tag: "unknown",
    operation: { id, key, tool, scope: showScope(scope), reason, because },
    resent,
  };
};

/** One that nobody could look at is as unknown as it was. */
const reasonOf = ({ state }: OperationRecord): UnknownReason =>
  state.tag === "unknown" ? state.reason : "owner_lost";
