/**
 * Takes an open operation over without a caller, to look what became of it. Never to begin one: what
 * is settled, held, withdrawn or owned by the living is left alone.
 *
 * @module
 */

import type { Flight } from "../engine/call/execution.ts";
import { about, type Operation } from "../engine/call/operation.ts";
import { declaredBy, type Engine, inBackground } from "../engine/engine.ts";
import type { Outcome } from "../engine/outcome/outcome.ts";
import { commonOf, hintFor } from "../engine/outcome/replay.ts";
import { type Claim, claimInTime, leaseMsOf, wasLost, withdraw } from "../engine/steps/claim.ts";
import type { Final } from "../engine/steps/next-move.ts";
import { type Owned, own } from "../engine/steps/ownership.ts";
import { reach } from "../engine/store-call.ts";
import { within } from "../lang/time-limit.ts";
import type { Stored } from "../ledger/record.ts";

/** `listed` is what made it a case to look at; if somebody has been at it since, it is theirs. */
export async function takeOver(flight: Flight, listed: Stored, engine: Engine): Promise<Claim> {
  const { operation, fires } = flight;
  const { tool, ref, draft } = operation;
  const stored = await reach(engine, "read", engine.ledger.read(ref));
  if (!stored || stored.record.epoch !== listed.record.epoch) {
    return { tag: "known", outcome: sayingOnly(operation, stored, engine) };
  }
  const holder = engine.newId();
  const leaseMs = leaseMsOf(tool, engine);
  const { clock, ledger, timing } = engine;
  const grantedAt = { monotonic: clock.monotonic(), wall: clock.now() };
  const resends = fires !== "never" && (tool.keyedForMs !== undefined || tool.conditional);
  const claim = {
    move: "claim",
    draft,
    holder,
    leaseMs,
    declared: declaredBy(tool, engine),
    cooldownMs: timing.cooldownMs,
    retry: false,
    powerless: !tool.readState && !resends,
    // Without a yes to spend, a claim can only take over what is open: it begins nothing.
    needsYes: true,
    at: ledger.clock.earliest(),
  } as const;
  const moved = await claimInTime(operation, engine, claim, stored);
  if (moved.tag === "moved" && moved.stored) {
    const owned = own(flight, moved.stored, holder, leaseMs, grantedAt, engine);
    flight.sent = true;
    if (wasLost(moved.stored)) {
      engine.events.emit("takeover", () => ({ ...about(operation), epoch: owned.epoch }));
    }
    return { tag: "owned", owned };
  }
  const found = moved.tag === "refused" ? moved.stored : undefined;
  return { tag: "known", outcome: sayingOnly(operation, found, engine) };
}

/** A look without news leaves the record as it was: a person's word on it stays good, and no clock restarts. */
export async function leftAsItWas(
  owned: Owned,
  final: Final,
  engine: Engine,
): Promise<Outcome<unknown> | undefined> {
  const { flight, operation, holder, stored } = owned;
  const { state } = stored.record;
  const before = state.tag === "claimed" ? state.before : undefined;
  if (flight.fires === undefined || owned.fires > 0 || final.do !== "hold") return undefined;
  if (before?.tag !== "unknown" || before.reason !== final.reason) return undefined;
  owned.active = false;
  const withdrawing = withdraw(operation, holder, engine);
  inBackground(engine, () => withdrawing);
  const inTime = await within(engine.clock, engine.timing.storeTimeoutMs, withdrawing);
  const moved = inTime.tag === "done" && inTime.value !== "closed" ? inTime.value : undefined;
  const now = moved && moved.tag !== "lane" ? moved.stored : undefined;
  const outcome = sayingOnly(operation, now, engine);
  if (now) return outcome;
  const hint = hintFor(stored.record, before);
  return { ...outcome, status: "unknown", reason: before.reason, hint, recorded: false };
}

/** What the ledger says, told without asking anybody: for those who want the status and not the result. */
function sayingOnly(
  operation: Operation,
  stored: Stored | undefined,
  engine: Engine,
): Outcome<unknown> {
  const common = { ...commonOf(operation, stored?.record, engine), replayed: true };
  const state = stored?.record.state;
  switch (state?.tag) {
    case "committed":
      return { ...common, status: "committed", effectId: state.effectId, resultLost: true };
    case "not_applied":
      return { ...common, status: "not_applied", reason: state.reason };
    case "unknown":
      return { ...common, status: "unknown", reason: state.reason };
    default:
      return { ...common, status: "in_progress" };
  }
}
