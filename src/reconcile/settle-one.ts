/**
 * Settles one open operation without a caller: takes it over, reads its state and, only if asked, sends
 * it again under the licence `keyed`. The engine decides, as it does for a call.
 *
 * @module
 */

import { executeWithoutCaller } from "../engine/call/join.ts";
import { claimInTime, claimOnToolTerms } from "../engine/claim-terms.ts";
import { recognisesRepeats, type Tool } from "../engine/define/tool.ts";
import type { Engine } from "../engine/engine.ts";
import type { Execution } from "../engine/operation/operation.ts";
import type { Outcome } from "../engine/operation/outcome.ts";
import { hintFor } from "../engine/outcome/hints.ts";
import { statusOnly } from "../engine/outcome/replay.ts";
import type { Pass } from "../engine/passes.ts";
import { conclude } from "../engine/run.ts";
import type { Claim } from "../engine/steps/claim.ts";
import type { Final } from "../engine/steps/next-move.ts";
import { type Owned, takeOwnership } from "../engine/steps/parts/ownership.ts";
import { withdrawInTime } from "../engine/steps/parts/withdraw.ts";
import { settle } from "../engine/steps/settle.ts";
import { askStore } from "../engine/store-call.ts";
import { wireKey } from "../key/mint.ts";
import { showScope } from "../key/scope.ts";
import { instantOf } from "../lang/clock.ts";
import type { OperationRecord, Stored } from "../ledger/record.ts";
import type { UnknownReason } from "../reasons.ts";
import { recall } from "./recall-operation.ts";
import type { Reconciled, StillUnknown } from "./report.ts";

/** The deadline of an operation that is only read: so many times `readTimeoutMs`. What needs longer is left to the next `hf.reconcile`. */
const DEADLINE_IN_READS = 2;

export async function settleOne(
  listed: Stored,
  known: Tool,
  { resend, signal }: { readonly resend: boolean; readonly signal: AbortSignal | undefined },
  engine: Engine,
): Promise<Reconciled> {
  const { record } = listed;
  const isRebuilt = engine.tenantState.rebuilt.has(known.name);
  const tool = isRebuilt ? withoutLicences(known) : known;
  const recalled = recall(record, tool, engine);
  if (!recalled) return unknown(record, reasonOf(record), "intent_unreadable", 0);
  const { operation, sameArguments } = recalled;
  const sends = resend && recognisesRepeats(tool);
  const resends = sends && sameArguments;
  const bounds = resends
    ? ({ fireMode: "by_key", signal, deadlineMs: tool.deadlineMs } as const)
    : ({
        fireMode: "never",
        signal: undefined,
        deadlineMs: DEADLINE_IN_READS * tool.readTimeoutMs,
      } as const);
  const outcome = await executeWithoutCaller(operation, bounds, engine, async (execution) => {
    const claim = await takeOver(execution, listed, engine);
    return claim.tag === "known"
      ? claim.outcome
      : conclude(claim.owned, engine, settleUnlessUnchanged);
  }).catch((error: unknown): Outcome<unknown> | undefined => {
    engine.events.emit("store", () => ({ status: "error", step: "reconcile", error }));
    return undefined;
  });
  const missing = sends && !resends ? "arguments_not_kept" : undefined;
  const because = isRebuilt ? "several_tools" : missing;
  if (!outcome) return unknown(record, "store_down", because, 0);
  const resent = Math.max(outcome.attempts - record.fired, 0);
  if (outcome.status === "unknown") {
    const blind = !tool.readState && !resends;
    return unknown(record, outcome.reason, because ?? (blind ? "no_reader" : undefined), resent);
  }
  // Another process, or a call in this one, owns it or settled it first.
  if (outcome.replayed || outcome.status === "in_progress") return { tag: "busy" };
  return { tag: outcome.status === "committed" ? "committed" : "not_applied", resent };
}

/**
 * Which of several tools of one name has made an operation is not known. The one that was made last may close over another
 * account: what its reader finds by the key is found (`engine/reader.ts`), anything else that it finds or does not find
 * proves nothing, and it sends nothing.
 */
const withoutLicences = (tool: Tool): Tool => ({
  ...tool,
  isOneOfSeveral: true,
  commitsWithinMs: undefined,
  keyedForMs: undefined,
  conditional: false,
});

/**
 * Takes over an operation as it was listed. It never begins one: what is settled, held, withdrawn, owned
 * by a living process or changed since it was listed is left alone.
 */
async function takeOver(execution: Execution, listed: Stored, engine: Engine): Promise<Claim> {
  const { operation, fireMode } = execution;
  const { tool, ref } = operation;
  const stored = await askStore(engine, "read", engine.ledger.read(ref));
  if (!stored || stored.record.epoch !== listed.record.epoch) {
    return { tag: "known", outcome: statusOnly(operation, stored, engine) };
  }
  const holder = engine.newId();
  const leaseAskedAt = instantOf(engine.clock);
  const resends = fireMode !== "never" && recognisesRepeats(tool);
  // A claim that needs an approval and has none can only take over what is open: it begins nothing.
  const terms = { holder, powerless: !tool.readState && !resends, needsYes: true };
  const claim = claimOnToolTerms(operation, terms, leaseAskedAt, engine);
  const moved = await claimInTime(operation, engine, claim, stored);
  if (moved.tag === "moved" && moved.stored) {
    const owned = takeOwnership(execution, moved.stored, holder, leaseAskedAt, engine);
    return { tag: "owned", owned };
  }
  const found = moved.tag === "refused" ? moved.stored : undefined;
  return { tag: "known", outcome: statusOnly(operation, found, engine) };
}

/**
 * Settles, unless the reads found nothing new: then the record is left as it was, so that a person's
 * answer to it stays valid and no time window starts again.
 */
async function settleUnlessUnchanged(
  owned: Owned,
  final: Final,
  engine: Engine,
): Promise<Pass<Outcome<unknown>>> {
  const { operation, stored } = owned;
  const { state } = stored.record;
  const before = state.tag === "claimed" ? state.before : undefined;
  const isUnchanged =
    owned.fires === 0 &&
    final.do === "leave_unknown" &&
    before?.tag === "unknown" &&
    before.reason === final.reason;
  if (!isUnchanged) return settle(owned, final, engine);
  const moved = await withdrawInTime(owned, engine);
  const now = moved?.stored;
  const outcome = statusOnly(operation, now, engine);
  if (now) return { tag: "done", value: { ...outcome, replayed: false } };
  const { reason } = before;
  const hint = hintFor(stored.record, reason);
  const value = { ...outcome, status: "unknown", reason, hint, replayed: false } as const;
  return { tag: "done", value: { ...value, recorded: false } };
}

const unknown = (
  record: OperationRecord,
  reason: UnknownReason,
  because: StillUnknown["because"],
  resent: number,
): Reconciled => {
  const { id, generation, tool, scope } = record;
  const key = wireKey(id, generation);
  return {
    tag: "unknown",
    operation: { id, key, tool, scope: showScope(scope), reason, because },
    resent,
  };
};

/** An operation that could not be read keeps its reason. */
const reasonOf = ({ state }: OperationRecord): UnknownReason =>
  state.tag === "unknown" ? state.reason : "owner_lost";
