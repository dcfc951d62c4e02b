/**
 * The legal moves of an operation: a pure, total function from a record and a move to the change to
 * write, or to the reason why the move is refused.
 *
 * @module
 */

import {
  type AttemptNote,
  hasCommitEvidence,
  isCleared,
  isOpen,
  type OperationRecord,
  type State,
  type Stored,
  saidYes,
} from "../record.ts";
import { answer, hold } from "./approval-moves.ts";
import { claim, withdraw } from "./claim-moves.ts";
import { committedBy, fileEvidence, isTwice } from "./evidence.ts";
import type { Move, Refusal } from "./moves.ts";
import { type Applied, hasLapsed, refused, write } from "./moves.ts";
import {
  addAttempt,
  addNames,
  endAttempts,
  enter,
  isAsKnown,
  presumeEnded,
} from "./record-edits.ts";

export type { Applied } from "./moves.ts";

/** `now` is the store's clock when `stored` was read. Leases are judged by no other clock. */
export function apply(stored: Stored | undefined, move: Move, now: number): Applied {
  if (move.move === "claim") return claim(stored, move, now);
  if (move.move === "hold") return hold(stored, move, now);
  if (!stored) return refused("absent");
  const { record } = stored;
  switch (move.move) {
    case "note": {
      const why = whyNotOwner(record, move.epoch);
      if (why) return refused(why);
      if (hasCommitEvidence(record)) return refused("evidence");
      if (!isAsKnown(record, move.endings)) return refused("changed");
      if (record.attempts.some(isOpenYes)) return refused("evidence");
      const ended = endAttempts(record, move.endings);
      return write(addAttempt(ended, move.licence, move.at, move.declared), move.leaseMs);
    }
    case "renew": {
      const why = whyNotOwner(record, move.epoch);
      return why ? refused(why) : write(record, move.leaseMs);
    }
    case "settle": {
      const why = whyNotOwner(record, move.epoch);
      if (why) return refused(why);
      const ended = endAttempts(record, move.endings);
      // A filed commit outweighs an owner that gives up or believes that nothing happened.
      if (move.state.tag !== "committed" && hasCommitEvidence(record)) {
        return write(enter(ended, committedBy(ended), move.at), "none");
      }
      if (move.state.tag === "not_applied" && !isAsKnown(record, move.endings)) {
        return refused("changed");
      }
      if (move.state.tag === "not_applied" && ended.attempts.some(isOpenYes)) {
        const unverified = presumeEnded(ended, stored.leaseUntil);
        return write(enter(unverified, { tag: "unknown", reason: "unverified" }, move.at), "none");
      }
      const presumed =
        move.state.tag === "unknown" ? presumeEnded(ended, stored.leaseUntil) : ended;
      const report = isTwice(record, move) ? "duplicate" : undefined;
      return { tag: "write", record: enter(presumed, move.state, move.at), lease: "none", report };
    }
    case "file":
      return fileEvidence(record, move);
    case "withdraw":
      return withdraw(record, move);
    case "answer":
      return answer(record, move, now);
    case "resolve": {
      if (record.state.tag === "claimed" && !hasLapsed(stored, now)) return refused("busy");
      if (record.state.tag !== "claimed" && record.state.tag !== "unknown") {
        return refused(isOpen(record.state) ? "held" : "settled");
      }
      const { as, by, note, asOf } = move;
      if (asOf !== undefined && asOf !== record.stateAt) return refused("changed");
      if (as === "not_applied" && hasCommitEvidence(record)) return refused("evidence");
      const cleared = record.attempts.map((attempt) =>
        isCleared(attempt) ? attempt : { ...attempt, cleared: "person" as const },
      );
      const state: State =
        as === "committed"
          ? { tag: "committed", via: "person", by, note }
          : { tag: "not_applied", reason: "resolved", by, note };
      const attempts = as === "committed" ? record.attempts : cleared;
      return write(enter({ ...record, attempts, epoch: record.epoch + 1 }, state, move.at), "none");
    }
    case "running": {
      const one = record.attempts.find(({ n }) => n === move.attempt);
      if (!one || one.endedAt !== undefined || record.state.tag === "committed") {
        return { tag: "same" };
      }
      const endsBy = move.at + move.leaseMs;
      return write(endAttempts(record, [{ n: one.n, endsBy }]), "keep");
    }
    case "meet": {
      const aliases = addNames(record.aliases, move.aliases);
      const runs = addNames(record.runs, move.run === undefined ? [] : [move.run]);
      if (aliases === record.aliases && runs === record.runs) return { tag: "same" };
      return write({ ...record, aliases, runs }, "keep");
    }
  }
}

/** The service said yes and it could not be verified: only a person may fire again, or clear it. */
const isOpenYes = (attempt: AttemptNote): boolean => saidYes(attempt) && !isCleared(attempt);

function whyNotOwner(record: OperationRecord, epoch: number): Refusal | undefined {
  return record.epoch === epoch && record.state.tag === "claimed" ? undefined : "stale";
}
