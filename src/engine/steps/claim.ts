/**
 * Step 1: **claim** → attempt. Takes the operation, or says what is known of it already.
 *
 *   admit → write → interpret, until the claim is ours or its answer is known
 *
 * A claim is durable before the first byte leaves, and means "may have been sent": it is itself the note of the first
 * attempt. Another owner is waited for; an owner whose lease has lapsed is succeeded, never presumed harmless.
 *
 * @module
 */

import { StoreUnavailableError } from "../../errors.ts";
import { type Instant, instantOf } from "../../lang/clock.ts";
import type { LaneChanged, Moved } from "../../ledger/ledger.ts";
import type { ClaimMove } from "../claim-terms.ts";
import { claimInTime, claimOnToolTerms, withdrawClaim } from "../claim-terms.ts";
import { type Admission, type Engine, inBackground, type Visit } from "../engine.ts";
import type { Execution } from "../operation/operation.ts";
import type { Outcome } from "../operation/outcome.ts";
import { commonOf } from "../outcome/build.ts";
import {
  lostBefore,
  readPrecondition,
  type WhyTakeBack,
  whyTakeBack,
} from "./parts/claim-needs.ts";
import {
  type Known,
  otherIntent,
  tellKnown,
  tellRecord,
  tellUnsent,
} from "./parts/known-outcome.ts";
import { type Owned, takeOwnership } from "./parts/ownership.ts";
import { attemptMsOf, endsByIn } from "./parts/time-to-send.ts";
import { emitWaiting, waitForChange } from "./parts/wait-for-change.ts";

export type Claim = { readonly tag: "owned"; readonly owned: Owned } | Known;

export async function claimOperation(execution: Execution, engine: Engine): Promise<Claim> {
  const { operation } = execution;
  const visit: Visit = {};
  let claim: Claim | undefined;
  try {
    for (let tries = 0; !claim; tries += 1) {
      const admitting = admit(execution, visit, engine);
      const admitted = admitting instanceof Promise ? await admitting : admitting;
      if (admitted.tag === "known") claim = admitted;
      else {
        // A new one for each try: a withdrawal finds its claim by the holder alone and may reach the store late; it must not
        // take back the claim of a later try.
        const holder = engine.newId();
        // The first try is in the same turn of the event loop as the start of the execution, unless the gate was waited for.
        const isFirst = tries === 0 && admitted === admitting;
        const leaseAskedAt = isFirst ? execution.startedAt : instantOf(engine.clock);
        const move = claimOfThisTry(execution, admitted, holder, leaseAskedAt, engine);
        const { lane } = admitted;
        const moved = await claimInTime(operation, engine, move, visit.guess, lane, leaseAskedAt);
        const foundLoss = !move.suspect && lostBefore(operation, engine) !== undefined;
        const made = { execution, admitted, visit, tries, holder, leaseAskedAt, foundLoss };
        const interpreting = interpret(moved, made, engine);
        claim = interpreting instanceof Promise ? await interpreting : interpreting;
      }
    }
    return claim;
  } catch (error) {
    if (!visit.waitedFor || !isStoreSilent(error)) throw error;
    const outcome = { ...commonOf(operation, undefined, engine), ...visit.waitedFor };
    return { tag: "known", outcome };
  } finally {
    if (claim?.tag !== "owned") engine.gate.leave(execution, engine, visit);
  }
}

/** What was waited for was seen to be under way. The store does not answer now: it is told as it was seen last. */
const isStoreSilent = (error: unknown): boolean =>
  error instanceof StoreUnavailableError && error.reason !== "damaged_record";

/** What the claim may be made with. */
interface Admitted extends Extract<Admission, { tag: "pass" }> {
  readonly precondition: ClaimMove["draft"]["precondition"];
}

/** Asks the gate, then reads the precondition: while it waited, what it reads may have changed. */
function admit(
  execution: Execution,
  visit: Visit,
  engine: Engine,
): Admitted | Promise<Admitted | Known> {
  const { operation, stopped } = execution;
  if (stopped.aborted) return tellUnsent(execution, { reason: "aborted" }, engine);
  const admission = engine.gate.admit(execution, engine, visit);
  const isFree = !(admission instanceof Promise) && admission.tag === "pass";
  if (isFree && !operation.tool.precondition) return { ...admission, precondition: undefined };
  return afterGate(execution, admission, engine);
}

async function afterGate(
  execution: Execution,
  admitting: Admission | Promise<Admission>,
  engine: Engine,
): Promise<Admitted | Known> {
  const { operation, stopped } = execution;
  const admission = await admitting;
  switch (admission.tag) {
    case "stopped": {
      const reason = stopped.aborted ? "aborted" : "expired";
      return tellUnsent(execution, { reason }, engine);
    }
    case "failed":
      return tellUnsent(execution, { reason: "not_sent", error: admission.error }, engine);
    case "known":
      return tellRecord(execution, admission.stored, engine);
    case "held":
    case "denied": {
      const { tag: status, ...why } = admission;
      const common = commonOf(operation, undefined, engine);
      return { tag: "known", outcome: { ...common, status, ...why } as Outcome<unknown> };
    }
    case "pass": {
      const { precondition } = operation.tool;
      if (!precondition) return { ...admission, precondition };
      const read = await readPrecondition(execution, precondition, engine);
      if (read.tag === "read") return { ...admission, precondition: read.precondition };
      const reason = read.tag === "stopped" ? "aborted" : "not_sent";
      return tellUnsent(execution, { reason, error: read.error }, engine);
    }
  }
}

/** The move that claims it, with the approval it spends. `claimInTime` writes it, together with the lane. */
function claimOfThisTry(
  execution: Execution,
  { precondition, needsYes, spend }: Admitted,
  holder: string,
  leaseAskedAt: Instant,
  engine: Engine,
): ClaimMove {
  const { operation } = execution;
  const suspect = lostBefore(operation, engine);
  const draft = precondition ? { ...operation.draft, precondition } : operation.draft;
  const retry = operation.retry !== undefined;
  const endsBy = endsByIn(attemptMsOf(execution, leaseAskedAt), engine, undefined, leaseAskedAt);
  const terms = { draft, holder, retry, suspect, needsYes, spend, endsBy };
  return claimOnToolTerms(operation, terms, leaseAskedAt, engine);
}

/** A claim as it was made. */
interface Try {
  readonly execution: Execution;
  readonly admitted: Admitted;
  readonly visit: Visit;
  /** How many there were before it. */
  readonly tries: number;
  readonly holder: string;
  /** When the lease was asked for, by both local clocks. */
  readonly leaseAskedAt: Instant;
  /** Written on the word of a store that turned out to have lost data: not to be fired on. */
  readonly foundLoss: boolean;
}

/** What the store answered: it is ours, its answer is known, or `undefined` to try again. */
function interpret(
  moved: Moved | LaneChanged,
  made: Try,
  engine: Engine,
): Claim | undefined | Promise<Claim | undefined> {
  const { execution, admitted, visit, holder, leaseAskedAt, foundLoss } = made;
  const { operation } = execution;
  switch (moved.tag) {
    case "lane":
      visit.lane = moved.lane;
      visit.guess = moved.stored;
      return undefined;
    case "refused":
      return whenRefused(moved, made, engine);
    case "moved": {
      const { stored } = moved;
      if (!stored) return tellKnown(execution, stored, engine);
      const own = (): Claim => ({
        tag: "owned",
        owned: takeOwnership(execution, stored, holder, leaseAskedAt, engine),
      });
      const why = foundLoss ? "try_again" : whyTakeBack(operation, stored, admitted.lane, engine);
      return why === undefined ? own() : takeBackIf(why, own, made, engine);
    }
  }
}

/** The claim is written; it is taken back if something speaks against its attempt. */
async function takeBackIf(
  looking: WhyTakeBack | Promise<WhyTakeBack | undefined>,
  own: () => Claim,
  { execution, holder }: Try,
  engine: Engine,
): Promise<Claim | undefined> {
  const takeBack = () => withdrawClaim(execution.operation, holder, engine);
  let why: WhyTakeBack | undefined;
  try {
    why = await looking;
  } catch (error) {
    inBackground(engine, takeBack);
    throw error;
  }
  if (!why) return own();
  await takeBack();
  // No caller has left: "aborted" lets one that joined try again (`call/join.ts`).
  return why === "place_taken" ? tellUnsent(execution, { reason: "aborted" }, engine) : undefined;
}

async function whenRefused(
  { why, stored }: Extract<Moved, { tag: "refused" }>,
  { execution, admitted, visit, tries }: Try,
  engine: Engine,
): Promise<Claim | undefined> {
  const { operation } = execution;
  if (why === "conflict") return otherIntent(operation, engine);
  if (why === "busy") {
    if (tries === 0) emitWaiting(execution, engine);
    visit.waitedFor = { status: "in_progress" };
    visit.guess = stored;
    if (await waitForChange(execution, tries, engine)) return undefined;
    const common = commonOf(operation, stored?.record, engine);
    return { tag: "known", outcome: { ...common, status: "in_progress" } };
  }
  // The question has changed, expired or gone, or what was let pass needs a yes by now: ask the gate anew.
  const isHeldAnew = why === "held" && (!admitted.spend || !stored);
  const isStale = why === "mismatch" || why === "expired" || isHeldAnew;
  if (isStale && !admitted.needsYes && !visit.held) {
    visit.held = true;
    return undefined;
  }
  if (admitted.needsYes && isStale && (await waitForChange(execution, tries, engine))) {
    return undefined;
  }
  return tellKnown(execution, stored, engine);
}
