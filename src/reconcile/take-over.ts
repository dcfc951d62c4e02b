/**
 * Takes an open operation over without a caller, to read what became of it. Never to begin one: what
 * is settled, held, withdrawn or owned by a living process is left alone.
 *
 * @module
 */

import { recognisesRepeats } from "../engine/define/tool.ts";
import type { Engine } from "../engine/engine.ts";
import { claimOf } from "../engine/operation/claim-move.ts";
import type { Execution } from "../engine/operation/operation.ts";
import type { Outcome } from "../engine/operation/outcome.ts";
import { hintFor } from "../engine/outcome/build.ts";
import { statusOnly } from "../engine/outcome/replay.ts";
import type { Pass } from "../engine/repeat.ts";
import type { Claim } from "../engine/steps/claim.ts";
import type { Final } from "../engine/steps/next-move.ts";
import { type Owned, takeOwnership } from "../engine/steps/ownership.ts";
import { settle } from "../engine/steps/settle.ts";
import { claimInTime, withdrawInTime } from "../engine/steps/withdraw.ts";
import { askStore } from "../engine/store-call.ts";
import type { Stored } from "../ledger/record.ts";

/** `listed` is what made it a case to read; if another process has changed it since, it is theirs. */
export async function takeOver(
  execution: Execution,
  listed: Stored,
  engine: Engine,
): Promise<Claim> {
  const { operation, fireMode } = execution;
  const { tool, ref } = operation;
  const stored = await askStore(engine, "read", engine.ledger.read(ref));
  if (!stored || stored.record.epoch !== listed.record.epoch) {
    return { tag: "known", outcome: statusOnly(operation, stored, engine) };
  }
  const holder = engine.newId();
  const { clock } = engine;
  const grantedAt = { monotonic: clock.monotonic(), wall: clock.now() };
  const resends = fireMode !== "never" && recognisesRepeats(tool);
  // Without a yes to spend, a claim can only take over what is open: it begins nothing.
  const terms = { holder, powerless: !tool.readState && !resends, needsYes: true };
  const moved = await claimInTime(operation, engine, claimOf(operation, terms, engine), stored);
  if (moved.tag === "moved" && moved.stored) {
    const owned = takeOwnership(execution, moved.stored, holder, grantedAt, engine);
    execution.sent = true;
    return { tag: "owned", owned };
  }
  const found = moved.tag === "refused" ? moved.stored : undefined;
  return { tag: "known", outcome: statusOnly(operation, found, engine) };
}

/**
 * Settles, unless nothing new was learned: then the record is left as it was. A person's word on it
 * stays good, and no clock restarts.
 */
export async function settleUnlessUnchanged(
  owned: Owned,
  final: Final,
  engine: Engine,
): Promise<Pass<Outcome<unknown>>> {
  const { operation, stored } = owned;
  const { state } = stored.record;
  const before = state.tag === "claimed" ? state.before : undefined;
  const isUnchanged =
    owned.fires === 0 &&
    final.do === "hold" &&
    before?.tag === "unknown" &&
    before.reason === final.reason;
  if (!isUnchanged) return settle(owned, final, engine);
  const moved = await withdrawInTime(owned, engine);
  const now = moved && moved.tag !== "lane" ? moved.stored : undefined;
  const outcome = statusOnly(operation, now, engine);
  if (now) return { tag: "done", value: { ...outcome, replayed: false } };
  const { reason } = before;
  const hint = hintFor(stored.record, reason);
  const value = { ...outcome, status: "unknown", reason, hint, replayed: false } as const;
  return { tag: "done", value: { ...value, recorded: false } };
}
