/**
 * Step 1: **claim** → attempt. Takes the operation, or says what is known of it already.
 *
 * A claim is durable before the first byte leaves, and means "may have been sent". Whoever else owns
 * the operation is waited for; an owner whose lease has lapsed is succeeded, never presumed harmless.
 *
 * @module
 */

import { StoreUnavailableError } from "../../errors.ts";
import { within } from "../../lang/time-limit.ts";
import type { Moved } from "../../ledger/ledger.ts";
import type { Lost, Move } from "../../ledger/moves.ts";
import type { Stored } from "../../ledger/record.ts";
import type { LaneChange } from "../../ledger/store.ts";
import type { Flight } from "../call/execution.ts";
import { about, type Operation } from "../call/operation.ts";
import { waitForChange } from "../call/wait-for-change.ts";
import { declaredBy, type Engine, inBackground, type Tool } from "../engine.ts";
import type { Visit } from "../gate.ts";
import type { Outcome } from "../outcome/outcome.ts";
import { commonOf, outcomeOf } from "../outcome/replay.ts";
import { reach } from "../store-call.ts";
import { isWhole } from "./confirm-claim.ts";
import { type Owned, own } from "./ownership.ts";
import { fixPrecondition } from "./precondition.ts";

/** How long after an attempt's timeout its owner is still believed to be alive. */
const LEASE_MARGIN_MS = 15_000;
/** And the least of it: no attempt starts that its lease does not outlast. */
const LEAST_MARGIN_MS = 1_000;

/** What is said of an operation in place of its recorded state. */
interface Said {
  readonly status: Outcome<unknown>["status"];
  readonly reason?: string | undefined;
  readonly error?: unknown;
}

export type Claim =
  | { readonly tag: "owned"; readonly owned: Owned }
  | { readonly tag: "known"; readonly outcome: Outcome<unknown> };

export async function claimOperation(flight: Flight, engine: Engine): Promise<Claim> {
  const visit: Visit = {};
  let claim: Claim | undefined;
  try {
    claim = await makeClaim(flight, visit, engine);
    return claim;
  } finally {
    if (claim?.tag !== "owned") await engine.gate.leave?.(flight, engine, visit);
  }
}

async function makeClaim(flight: Flight, visit: Visit, engine: Engine): Promise<Claim> {
  const { operation } = flight;
  const { tool } = operation;
  const holder = engine.newId();
  const leaseMs = leaseMsOf(tool, engine);
  const known = async (stored: Stored | undefined): Promise<Claim> => {
    const outcome = await outcomeOf(operation, stored, engine);
    if (stored) await meetAgain(operation, stored, engine);
    return { tag: "known", outcome };
  };
  const saying = (stored: Stored | undefined, said: Said): Claim => ({
    tag: "known",
    outcome: { ...commonOf(operation, stored?.record, engine), ...said } as Outcome<unknown>,
  });
  /** This call sent nothing; what became of the operation otherwise is in the ledger. */
  const unsent = async (said: Omit<Said, "status">): Promise<Claim> => {
    const stored = await reach(engine, "read", engine.ledger.read(operation.ref));
    return stored ? told(stored) : saying(undefined, { status: "not_applied", ...said });
  };
  const told = async (stored: Stored): Promise<Claim> => {
    const same = stored.record.fingerprint === operation.draft.identity.fingerprint;
    return same ? known(stored) : saying(undefined, { status: "conflict" });
  };

  for (let turn = 0; ; turn += 1) {
    if (flight.stopped.aborted) return unsent({ reason: "aborted" });
    const admission = await engine.gate.admit(flight, engine, visit);
    if (admission.tag === "stopped") {
      return unsent({ reason: flight.stopped.aborted ? "aborted" : "expired" });
    }
    if (admission.tag === "failed") return unsent({ reason: "not_sent", error: admission.error });
    if (admission.tag === "known") return told(admission.stored);
    if (admission.tag !== "pass") {
      const { tag: status, ...why } = admission;
      return saying(undefined, { status, ...why });
    }
    // In its lane, and after a person's yes: what they waited for may have changed it.
    const fixed = await fixPrecondition(flight, engine);
    if (fixed.tag !== "fixed") {
      const reason = fixed.tag === "stopped" ? "aborted" : "not_sent";
      return unsent({ reason, error: fixed.error });
    }
    const { precondition } = fixed;
    const { clock, ledger } = engine;
    const suspect = lostBefore(operation, engine);
    const grantedAt = { monotonic: clock.monotonic(), wall: clock.now() };
    const claim = {
      move: "claim",
      draft: { ...operation.draft, precondition },
      holder,
      leaseMs,
      declared: declaredBy(tool, engine),
      cooldownMs: engine.timing.cooldownMs,
      retry: operation.retry !== undefined,
      suspect,
      powerless: !tool.readState && tool.keyedForMs === undefined && !tool.conditional,
      needsYes: admission.needsYes,
      spend: admission.spend,
      at: ledger.clock.earliest(),
    } as const;
    const moved = await claimInTime(operation, engine, claim, undefined, admission.lane);
    if (moved.tag === "lane") {
      visit.lane = moved.lane;
      continue;
    }
    // Somebody else has the lane, or the precondition was not read for what is now to be fired.
    if (moved.tag === "moved") {
      const takeBack = () => withdraw(operation, holder, engine);
      if (!(await isWhole(operation, moved.stored, admission.lane, takeBack, engine))) continue;
    }
    // The store was found out by this very claim: nothing is sent on its word that nothing was.
    if (moved.tag === "moved" && !suspect && lostBefore(operation, engine)) {
      await withdraw(operation, holder, engine);
      continue;
    }
    if (moved.tag === "moved" && moved.stored) {
      const owned = own(flight, moved.stored, holder, leaseMs, grantedAt, engine);
      // Somebody has fired it before: whoever leaves now cannot be told that nothing was sent.
      if (!owned.noted) flight.sent = true;
      if (wasLost(moved.stored)) {
        engine.events.emit("takeover", () => ({ ...about(operation), epoch: owned.epoch }));
      }
      return { tag: "owned", owned };
    }
    const why = moved.tag === "refused" ? moved.why : "absent";
    if (why === "conflict") return saying(undefined, { status: "conflict" });
    if (why === "busy") {
      if (await waitForChange(flight, turn, engine)) continue;
      return saying(moved.stored, { status: "in_progress" });
    }
    // The question has changed or expired, or what was let pass needs a yes by now: ask the gate anew.
    const stale = why === "mismatch" || why === "expired" || (why === "held" && !admission.spend);
    if (stale && !admission.needsYes && !visit.held) {
      visit.held = true;
      continue;
    }
    if (admission.needsYes && stale && (await waitForChange(flight, turn, engine))) continue;
    return known(moved.stored);
  }
}

/** Keeps the ids under which an operation was met again, for whoever traces it. */
async function meetAgain(
  { ref, draft }: Operation,
  { record }: Stored,
  engine: Engine,
): Promise<void> {
  const { aliases, identity } = draft;
  const { run, resource } = identity;
  const isNewRun = resource !== undefined && run !== undefined && !record.runs.includes(run);
  if (!isNewRun && aliases.every((alias) => record.aliases.includes(alias))) return;
  const meeting = engine.ledger.move(ref, { move: "meet", aliases, run });
  inBackground(engine, () => meeting);
  // Drift is judged by what this run has repeated: its next call must find it.
  if (isNewRun) await within(engine.clock, engine.timing.storeTimeoutMs, meeting);
}

/** What the store may have lost, unless the caller vouches that there was nothing. */
export function lostBefore({ fresh, tool }: Operation, engine: Engine): Lost | undefined {
  const suspicion = engine.ledger.suspicion();
  if (!suspicion || fresh) return undefined;
  const leaseMs = tool.attemptTimeoutMs + LEASE_MARGIN_MS;
  return { since: suspicion.since, leaseMs, declared: declaredBy(tool, engine) };
}

export function wasLost({ record: { state } }: Stored): boolean {
  const before = state.tag === "claimed" ? state.before : undefined;
  return before?.tag === "unknown" && before.reason === "owner_lost";
}

/** How long an owner is believed alive without a sign, in milliseconds. */
export const leaseMsOf = ({ attemptTimeoutMs }: Tool, { timing }: Engine): number =>
  Math.max(
    timing.leaseMs ?? attemptTimeoutMs + LEASE_MARGIN_MS,
    attemptTimeoutMs + LEAST_MARGIN_MS,
  );

/** Claims in time, or not at all: a claim whose answer never came is withdrawn by its holder's name. */
export async function claimInTime(
  operation: Operation,
  engine: Engine,
  claim: Extract<Move, { move: "claim" }>,
  known?: Stored,
  lane?: LaneChange,
): Promise<Moved> {
  const { ref } = operation;
  const claiming = engine.ledger.move(ref, claim, known, lane);
  const inTime = await within(engine.clock, engine.timing.storeTimeoutMs, claiming);
  if (inTime.tag === "done") return inTime.value;
  const error = inTime.tag === "failed" ? inTime.error : undefined;
  engine.events.emit("store", () => ({ status: "error", step: "claim", error }));
  // At once, and again when the lost answer comes: it may still be on its way to the store.
  inBackground(engine, () => withdraw(operation, claim.holder, engine));
  const again = () => inBackground(engine, () => withdraw(operation, claim.holder, engine));
  claiming.then(again, again);
  throw new StoreUnavailableError("claim", error);
}

/** Nothing was sent under this claim: leave nothing to replay. Tries until the store answers. */
export function withdraw(
  operation: Operation,
  holder: string,
  engine: Engine,
): Promise<Moved | "closed"> {
  const at = engine.ledger.clock.earliest();
  return engine.persist(() => engine.ledger.move(operation.ref, { move: "withdraw", holder, at }));
}
