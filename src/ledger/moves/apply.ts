/**
 * The legal moves of an operation: a pure, total function from a record and a move to the change to
 * write, or to the reason why the move is refused.
 *
 * @module
 */

import {
  type AttemptNote,
  type AttemptUpdate,
  isCleared,
  isOpen,
  type OperationRecord,
  runsAt,
  type State,
  type Stored,
  saidYesUnconfirmed,
} from "../record.ts";
import { answer, hold } from "./approval-moves.ts";
import { addAttempt, endLater, isAsKnown, updatedAttempts, withUpdates } from "./attempt-edits.ts";
import { claim, withdraw } from "./claim-moves.ts";
import { committedBy, fileEvidence, hasCommitEvidence, isTwice } from "./evidence.ts";
import { hasLostUnheard, LOST_EPOCH } from "./lost-data.ts";
import type { Move, Ownership, Refusal } from "./moves.ts";
import { type Applied, hasLapsed, isOtherIntent, refused, write } from "./moves.ts";
import { addNames, enter } from "./record-edits.ts";

export type { Applied } from "./moves.ts";

/** `now` is the store's clock in its last answer. Leases are judged by no other clock. */
export function apply(stored: Stored | undefined, move: Move, now: number): Applied {
  if (move.move === "claim") return claim(stored, move, now);
  if (move.move === "hold") return hold(stored, move, now);
  if (!stored) return refused("absent");
  const { record } = stored;
  switch (move.move) {
    case "note": {
      const why = whyNotOwner(record, move);
      if (why) return refused(why);
      if (hasCommitEvidence(record)) return refused("evidence");
      if (record.abandonedFor !== undefined) return refused("abandoned");
      if (!isKnownTo(record, move.updates)) return refused("changed");
      if (record.attempts.some(isOpenYes)) return refused("evidence");
      const updated = withUpdates(record, move.updates);
      const fired = addAttempt(updated, updated.epoch, move.licence, move);
      return write({ ...updated, ...fired }, move.leaseMs);
    }
    case "renew": {
      const why = whyNotOwner(record, move);
      return why ? refused(why) : write(record, move.leaseMs);
    }
    case "settle": {
      const why = whyNotOwner(record, move);
      if (why) return refused(why);
      const { attempts, fired } = updatedAttempts(record, move.updates);
      const updated = { ...record, attempts, fired, untold: untoldAfter(move) };
      // A filed commit outweighs an owner that gives up or believes that nothing happened.
      if (move.state.tag !== "committed" && hasCommitEvidence(record)) {
        return write(enter(updated, committedBy(updated), move.at), "none");
      }
      if (move.state.tag === "not_applied" && !isKnownTo(record, move.updates)) {
        return refused("changed");
      }
      if (move.state.tag === "not_applied" && updated.attempts.some(isOpenYes)) {
        return write(enter(updated, { tag: "unknown", reason: "unverified" }, move.at), "none");
      }
      const report = isTwice(record, move) ? "duplicate" : undefined;
      const state = stillAbandoned(record, move.state);
      return { tag: "write", record: enter(updated, state, move.at), lease: "none", report };
    }
    case "file":
      return fileEvidence(stored, move, now);
    case "withdraw":
      return withdraw(record, move);
    case "answer":
      return answer(record, move, now);
    case "resolve": {
      if (record.state.tag === "claimed" && !hasLapsed(stored, now)) return refused("busy");
      if (record.state.tag !== "claimed" && record.state.tag !== "unknown") {
        return refused(isOpen(record.state) ? "held" : "settled");
      }
      const { as, by, note, asOf, anyway } = move;
      if (asOf !== undefined && asOf !== record.stateAt) return refused("changed");
      if (as === "not_applied" && hasCommitEvidence(record)) return refused("evidence");
      const mayStillSend = (attempt: AttemptNote) => !isCleared(attempt) && runsAt(attempt, now);
      if (as === "not_applied" && !anyway && record.attempts.some(mayStillSend)) {
        return refused("running");
      }
      const cleared = record.attempts.map((attempt) =>
        isCleared(attempt) ? attempt : { ...attempt, cleared: "person" as const },
      );
      const state: State =
        as === "committed"
          ? { tag: "committed", via: "person", by, note }
          : { tag: "not_applied", reason: "resolved", by, note };
      const attempts = as === "committed" ? record.attempts : cleared;
      const resolved = { ...record, attempts, epoch: record.epoch + 1, untold: true } as const;
      return write(enter(resolved, state, move.at), "none");
    }
    case "running": {
      if (isOtherIntent(record, move)) return refused("conflict");
      const one = attemptMeant(record, move);
      // What was fired since relies on it: it must send no more.
      if (!one || isCleared(one)) return refused("stale");
      // It is done: nothing more is to be sent, and nothing was noted.
      if (record.state.tag === "committed") return refused("settled");
      if (one.endedAt === undefined) {
        return write(withUpdates(record, [{ n: one.n, endsBy: move.endsBy }]), "keep");
      }
      if (one.epoch !== LOST_EPOCH) return { tag: "same" };
      return write({ ...record, attempts: endedLater(record, one, move.endsBy) }, "keep");
    }
    case "doubt":
      return doubt(record, move);
    case "meet": {
      const aliases = addNames(record.aliases, move.aliases);
      const runs = addNames(record.runs, move.run === undefined ? [] : [move.run]);
      const isTold = move.told === record.state.tag && !isOpen(record.state);
      const untold = isTold ? undefined : record.untold;
      const isSame = aliases === record.aliases && runs === record.runs;
      if (isSame && untold === record.untold) return { tag: "same" };
      return write({ ...record, aliases, runs, untold }, "keep");
    }
    case "forget": {
      const { state } = record;
      if (hasCommitEvidence(record)) return refused("evidence");
      if (state.tag !== "unknown") return refused(isOpen(state) ? "busy" : "settled");
      return { tag: "write", record: undefined, lease: "none" };
    }
    case "abandon": {
      const { state } = record;
      const { instead: abandonedFor, at } = move;
      // Done since it was told as open, and the person was shown that, too. Who was not is asked again.
      if (state.tag === "committed" && record.untold && move.shownDone) {
        return write({ ...record, abandonedFor }, "keep");
      }
      if (state.tag === "claimed" && !hasLapsed(stored, now)) return refused("busy");
      if (state.tag !== "claimed" && state.tag !== "unknown") {
        return refused(isOpen(state) ? "held" : "settled");
      }
      if (state.tag === "unknown" && record.abandonedFor !== undefined) return { tag: "same" };
      const left = { ...record, epoch: record.epoch + 1, abandonedFor, untold: true } as const;
      return write(enter(left, { tag: "unknown", reason: "abandoned" }, at), "none");
    }
  }
}

const isKnownTo = (record: OperationRecord, updates: readonly AttemptUpdate[]): boolean =>
  isAsKnown(record, updates) && !hasLostUnheard(record, updates);

/** What is open is not told for good, and what was settled without a caller was told to none. */
const untoldAfter = ({ state, told }: Extract<Move, { move: "settle" }>): true | undefined =>
  state.tag === "unknown" || told === false ? true : undefined;

/** Reads may go on for as long as they like: what was abandoned stays so until it is known. */
const stillAbandoned = <S extends State>({ abandonedFor }: OperationRecord, state: S): S =>
  state.tag === "unknown" && abandonedFor !== undefined ? { ...state, reason: "abandoned" } : state;

/** Takes back that nothing happened; that it happened is never taken back. */
function doubt(record: OperationRecord, move: Extract<Move, { move: "doubt" }>): Applied {
  const one = record.attempts.find(({ n }) => n === move.attempt);
  if (!one || record.state.tag === "committed") return { tag: "same" };
  if (move.why === "unvetoable") {
    if (one.endedAt !== undefined || one.unvetoable) return { tag: "same" };
    return write(withUpdates(record, [{ n: one.n, unvetoable: true }]), "keep");
  }
  if (one.verdict === "committed") return { tag: "same" };
  const attempts = endedLater(record, one, move.endsBy);
  const { state } = record;
  // A person who looked before has not seen this: what they say of it counts no more.
  const isJudged = state.tag !== "held" && state.tag !== "denied";
  const at = isJudged ? move.at : record.stateAt;
  const doubted = enter({ ...record, attempts }, doubtedState(record, state, move.at), at);
  return write(doubted, state.tag === "not_applied" ? "none" : "keep");
}

/** What a withdrawal would return to, or a yes would fire on, is no certainty any more either. */
function doubtedState(record: OperationRecord, state: State, at: number): State {
  if (state.tag === "not_applied") {
    return stillAbandoned(record, { tag: "unknown", reason: "late_send" });
  }
  if (state.tag !== "claimed" && state.tag !== "held") return state;
  if (!state.before) return state;
  const before = doubtedState(record, state.before, at);
  return state.tag === "claimed" ? { ...state, before, beforeAt: at } : { ...state, before };
}

/** The service said yes and it could not be verified: only a person may fire again, or clear it. */
const isOpenYes = (attempt: AttemptNote): boolean =>
  saidYesUnconfirmed(attempt) && !isCleared(attempt);

function whyNotOwner({ epoch, state }: OperationRecord, move: Ownership): Refusal | undefined {
  const isOwner = state.tag === "claimed" && state.holder === move.holder && epoch === move.epoch;
  return isOwner ? undefined : "stale";
}

/**
 * The attempt that still runs. If its note was lost with its record, or with what the record has lost, the attempt in
 * doubt that stands for it: an absence that is read while it runs must prove nothing.
 */
function attemptMeant(
  { attempts, createdAt }: OperationRecord,
  { attempt, epoch, madeAt = createdAt }: Extract<Move, { move: "running" }>,
): AttemptNote | undefined {
  const isOwn = (one: AttemptNote) =>
    one.n === attempt && (epoch === undefined || one.epoch === epoch || one.epoch === LOST_EPOCH);
  const own = madeAt === createdAt ? attempts.find(isOwn) : undefined;
  return own ?? attempts.find((one) => one.epoch === LOST_EPOCH && !isCleared(one));
}

const endedLater = (
  { attempts }: OperationRecord,
  one: AttemptNote,
  endedAt: number,
): readonly AttemptNote[] =>
  attempts.map((attempt) => (attempt === one ? endLater(one, endedAt) : attempt));
