/**
 * How an operation is claimed, for all who claim one (a call, a reconciler, a recorded sample, a restored record):
 * the terms of its tool, the move itself within the store's time limit, and taking it back. Also what is asked before a
 * claim: whether it would fire (`wouldFire`).
 *
 * @module
 */

import { isHoldfireError, StoreUnavailableError } from "../errors.ts";
import type { Instant, InTime } from "../lang/clock.ts";
import type { LaneChanged, Moved } from "../ledger/ledger.ts";
import { mayFireAgain } from "../ledger/moves/claim-moves.ts";
import type { Draft, Move } from "../ledger/moves/moves.ts";
import type { OperationRecord, Stored } from "../ledger/record.ts";
import type { LaneChange } from "../ledger/store.ts";
import { declaredBy, recognisesRepeats } from "./define/tool.ts";
import { type Engine, inBackground } from "./engine.ts";
import type { Operation } from "./operation/operation.ts";
import { askStore, inStoreTime } from "./store-call.ts";

export type ClaimMove = Extract<Move, { move: "claim" }>;

/** The plainest claim of this draft; `own` is what this one has beyond it. */
export const plainClaim = (
  draft: Draft,
  own: Partial<ClaimMove> & Pick<ClaimMove, "holder" | "leaseMs" | "at">,
): ClaimMove => ({
  move: "claim",
  draft,
  cooldownMs: 0,
  retry: false,
  powerless: false,
  ...own,
});

type OwnTerms = Pick<
  ClaimMove,
  "draft" | "retry" | "powerless" | "suspect" | "needsYes" | "spend" | "endsBy"
>;

/** A claim of this operation on its tool's terms, and what is its own. `at` is now. */
export const claimOnToolTerms = (
  { tool, draft }: Operation,
  own: Pick<ClaimMove, "holder"> & Partial<OwnTerms>,
  at: Instant,
  { ledger, timing, enlisted }: Engine,
): ClaimMove => ({
  move: "claim",
  draft: own.draft ?? draft,
  holder: own.holder,
  suspect: own.suspect,
  needsYes: own.needsYes,
  spend: own.spend,
  endsBy: own.endsBy,
  leaseMs: timing.leaseMs,
  declared: declaredBy(tool, enlisted),
  cooldownMs: timing.cooldownMs,
  retry: own.retry ?? false,
  powerless: own.powerless ?? (!tool.readState && !recognisesRepeats(tool)),
  at: ledger.clock.earliest(at),
  skew: ledger.clock.skew(at),
});

/**
 * Claims within the store's time limit, or not at all. A claim whose answer never came is taken back.
 *
 * This process may know of the operation what it could not write down. That is written first: a claim that is made
 * without it, once the old lease is over, would decide on less than is known. `at` is now.
 */
export function claimInTime(
  operation: Operation,
  engine: Engine,
  claim: ClaimMove,
  guess?: Stored,
  lane?: LaneChange,
  at?: Instant,
): Promise<Moved | LaneChanged> {
  const unrecorded = engine.unrecorded.get(operation.ref.id);
  const write = (asked?: Instant): Promise<Moved | LaneChanged> => {
    const claiming = engine.ledger.move(operation.ref, claim, guess, lane, asked);
    return inStoreTime(engine, claiming).then((inTime) =>
      inTime.tag === "done"
        ? inTime.value
        : takeBackLost(operation, claim, claiming, inTime, engine),
    );
  };
  return unrecorded ? recordFirst(operation, unrecorded, write, engine) : write(at);
}

/** Claims once that is recorded. A store that is down says so here; one that answers is asked again. */
async function recordFirst(
  { ref }: Operation,
  unrecorded: () => Promise<Moved>,
  claim: () => Promise<Moved | LaneChanged>,
  engine: Engine,
): Promise<Moved | LaneChanged> {
  if ((await inStoreTime(engine, unrecorded())).tag === "done") return claim();
  const stored = await askStore(engine, "claim", engine.ledger.read(ref));
  return { tag: "refused", why: "busy", stored };
}

/** The answer to the claim has not come, and may never. */
function takeBackLost(
  operation: Operation,
  claim: ClaimMove,
  claiming: Promise<Moved | LaneChanged>,
  lost: Exclude<InTime<unknown>, { tag: "done" }>,
  engine: Engine,
): never {
  const error = lost.tag === "failed" ? lost.error : undefined;
  engine.events.emit("store", () => ({ status: "error", step: "claim", error }));
  // The store has answered: no claim was written over a record that it could not read.
  if (isHoldfireError(error) && error.reason === "damaged_record") throw error;
  // At once, and again when the lost answer comes: it may still be on its way to the store.
  const takeBack = () => inBackground(engine, () => withdrawClaim(operation, claim.holder, engine));
  takeBack();
  claiming.then(takeBack, takeBack);
  throw new StoreUnavailableError("claim", error);
}

/** Nothing was sent under this claim: the operation is what it was before it. Tries until the store answers, or `close`. */
export function withdrawClaim(
  operation: Operation,
  holder: string,
  engine: Engine,
): Promise<Moved | "closed"> {
  const at = engine.ledger.clock.earliest();
  return engine.persist(() => engine.ledger.move(operation.ref, { move: "withdraw", holder, at }));
}

/** Whether a claim would fire it: a settled operation is replayed, and an open one is read. */
export function wouldFire(
  record: OperationRecord,
  { retry }: Operation,
  { ledger, timing }: Engine,
): boolean {
  const { state, abandonedFor } = record;
  if (state.tag === "held") return true;
  if (state.tag !== "not_applied" || abandonedFor !== undefined) return false;
  const terms = { retry: retry !== undefined, cooldownMs: timing.cooldownMs };
  return mayFireAgain(state, record, terms, ledger.clock.latest());
}
