/**
 * The moves that take an operation and give it back. A claim takes it with a licence to fire, if it is new, approved by a person,
 * or certainly not applied and due again; or without one, to read its state, if it is unknown or its owner's lease has lapsed.
 * All other claims are refused. A withdrawal says that nothing was sent, and returns it to the state it had before.
 *
 * @module
 */

import type { Licence } from "../../reasons.ts";
import {
  type Answer,
  type AttemptNote,
  isCertainlyUnsent,
  isCleared,
  type OperationRecord,
  type State,
  type Stored,
} from "../record.ts";
import { keepClosedAnswers } from "./approval-moves.ts";
import { asksOf, hasExpired, isApproved, questionOf, wallOf } from "./approval-question.ts";
import { addAttempt, fenceEnlisted } from "./attempt-edits.ts";
import { committedBy, hasCommitEvidence } from "./evidence.ts";
import { doubtHeld, lostRecord, lostSince } from "./lost-data.ts";
import { type Applied, hasLapsed, type Move, refused, write } from "./moves.ts";
import { addNames, enter, newRecord, redraft, type Stateless } from "./record-edits.ts";

export function claim(
  stored: Stored | undefined,
  move: Extract<Move, { move: "claim" }>,
  now: number,
): Applied {
  if (!stored && move.suspect) {
    const { record, before } = lostRecord(move.draft, move.at, move.suspect);
    return claimed(record, move, before, undefined);
  }
  if (!stored) {
    if (move.needsYes) return refused("held");
    return claimed(newRecord(move.draft, move.at), move, undefined, "first");
  }
  const { record } = stored;
  const { state } = record;
  if (record.fingerprint !== move.draft.identity.fingerprint) return refused("conflict");
  switch (state.tag) {
    case "held": {
      const ask = questionOf(state, move.spend);
      if (!isApproved(ask ?? state.ask)) return refused("held");
      if (!ask) return refused("mismatch");
      if (hasExpired(ask, now, wallOf(move))) return refused("expired");
      const doubted = doubtHeld(again(record, state.before, move), state, move);
      const spent = keepClosedAnswers(doubted.record, ask);
      return claimed(spent, move, doubted.state, licenceAfter(doubted.state.before));
    }
    case "denied":
      return refused("denied");
    case "committed":
      return refused("settled");
    case "unknown":
      // An attempt made of guarded operations only can always run again: those are replayed. And without a doubt, nothing has
      // to be read or sent again.
      if (
        move.powerless &&
        !record.attempts.some(canRunAgain) &&
        !record.attempts.every(isCleared)
      ) {
        return refused("powerless");
      }
      return claimed(fenceEnlisted(record), move, state, undefined);
    case "claimed": {
      // The store's reply to this claim was lost, and the claim is sent again.
      if (state.holder === move.holder) return { tag: "same" };
      if (!hasLapsed(stored, now)) return refused("busy");
      const lost: State = { tag: "unknown", reason: "owner_lost" };
      return claimed({ ...fenceEnlisted(record), untold: true }, move, lost, undefined);
    }
    case "not_applied": {
      if (!mayFireAgain(state, record, move, now)) return refused("settled");
      if (move.needsYes) return refused("held");
      const next = again(record, state, move);
      // It may have been fired since; the record of that may be what the store lost.
      const lost = lostSince(next, move);
      if (lost) return claimed(lost.record, move, lost.before, undefined);
      return claimed(next, move, state, licenceAfter(state));
    }
  }
}

/** Whether a new call fires what certainly did not happen, or is told so again. */
export function mayFireAgain(
  { reason }: Extract<State, { tag: "not_applied" }>,
  { stateAt, attempts }: Pick<OperationRecord, "stateAt" | "attempts">,
  { retry, cooldownMs }: Pick<Extract<Move, { move: "claim" }>, "retry" | "cooldownMs">,
  now: number,
): boolean {
  if (retry || reason === "resolved") return true;
  if (reason === "rejected") return false;
  const last = attempts.at(-1);
  // What was not seen may have happened all the same.
  if (reason === "not_sent" && last && !isCertainlyUnsent(last)) return false;
  return now >= stateAt + cooldownMs;
}

const canRunAgain = ({ innerOnly, declared }: AttemptNote): boolean =>
  innerOnly === true || declared?.enlisted === true;

/** Whether the service itself rejected the key: such a key is not used again. */
export const isKeyRejected = (state: State | undefined): boolean =>
  state?.tag === "held"
    ? isKeyRejected(state.before)
    : state?.tag === "not_applied" && state.keyRejected === true;

function again(
  record: OperationRecord,
  before: State | undefined,
  { draft }: Extract<Move, { move: "claim" }>,
): OperationRecord {
  const generation = record.generation + (isKeyRejected(before) ? 1 : 0);
  return { ...redraft(record, draft), generation };
}

/** `undefined` where the store may have lost the record of a send: the state is read first. */
function licenceAfter(before: State | undefined): Licence | undefined {
  if (before?.tag === "unknown") return undefined;
  return before?.tag === "not_applied" ? LICENCE_AFTER[before.reason] : "first";
}

/** What licenses a later call to fire an operation that certainly did not happen. */
const LICENCE_AFTER = {
  rejected: "refused",
  refused: "refused",
  absent: "absent",
  resolved: "person",
  not_sent: "not_sent",
  unanswered: "not_sent",
  aborted: "not_sent",
  expired: "not_sent",
} as const satisfies Record<string, Licence>;

/** With a licence, the claim also notes the attempt that is about to be fired. */
function claimed(
  record: Stateless,
  move: Extract<Move, { move: "claim" }>,
  before: State | undefined,
  licence: Licence | undefined,
): Applied {
  // Evidence of a commit rules out firing, whatever the state says.
  if (licence && hasCommitEvidence(record)) return refused("evidence");
  if (licence && record.abandonedFor !== undefined) return refused("abandoned");
  const beforeAt = before && record.stateAt;
  const state: State = { tag: "claimed", holder: move.holder, before, beforeAt };
  const { run } = move.draft.identity;
  const runs = run === undefined ? record.runs : addNames(record.runs, [run]);
  const epoch = record.epoch + 1;
  const { attempts, fired } = licence ? addAttempt(record, epoch, licence, move) : record;
  // What is claimed is open, and keeps its intent.
  const next = { ...record, state, stateAt: move.at, runs, epoch, attempts, fired };
  return write(next, move.leaseMs);
}

export function withdraw(
  record: OperationRecord,
  move: Extract<Move, { move: "withdraw" }>,
): Applied {
  const { state, epoch } = record;
  if (state.tag !== "claimed" || state.holder !== move.holder) return refused("not_open");
  // A commit filed during the claim did not correct the earlier state, so it is written now. None was told.
  if (hasCommitEvidence(record)) {
    const committed = enter({ ...record, untold: true }, committedBy(record), move.at);
    return { tag: "write", record: committed, lease: "none", report: "corrected" };
  }
  const mine = record.attempts.filter((attempt) => attempt.epoch === epoch);
  if (!mine.every((attempt, index) => didNothing(attempt, index === mine.length - 1))) {
    return refused("not_open");
  }
  const { before, beforeAt = record.stateAt } = state;
  if (!before) return { tag: "write", record: undefined, lease: "none" };
  const attempts = record.attempts.filter((attempt) => attempt.epoch !== epoch);
  const fired = record.fired - mine.length;
  const generation = record.generation - (isKeyRejected(before) ? 1 : 0);
  const answers = before.tag === "held" ? unspent(record.answers, before) : record.answers;
  const back = { ...record, attempts, fired, generation, answers };
  return write(enter(back, before, beforeAt), "none");
}

/** The withdrawal itself proves only that the last attempt was not sent. */
const didNothing = ({ verdict }: AttemptNote, isLast: boolean): boolean =>
  verdict === "not_sent" || verdict === "refused" || (isLast && verdict === undefined);

/** A yes that becomes usable again belongs to its open question, not to the closed ones. */
function unspent(
  answers: readonly Answer[] | undefined,
  held: Extract<State, { tag: "held" }>,
): readonly Answer[] | undefined {
  const open = asksOf(held).flatMap((ask) => ask.answers);
  const isOpen = ({ at, by }: Answer) => open.some((one) => one.at === at && one.by === by);
  const closed = answers?.filter((answer) => !isOpen(answer));
  return closed && closed.length > 0 ? closed : undefined;
}
