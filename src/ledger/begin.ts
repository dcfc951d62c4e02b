/**
 * The moves that begin something: claiming an operation, asking a person, and the person's answer.
 *
 * @module
 */

import type { Applied } from "./apply.ts";
import { addAttempt, enter, newRecord, presumeEnded, redraft } from "./edit.ts";
import type { Move, Refusal } from "./moves.ts";
import type { Licence, OperationRecord, State, Stored } from "./record.ts";
import type { LeaseChange } from "./store.ts";

const MAX_ANSWERS_KEPT = 16;

export const refused = (why: Refusal): Applied => ({ tag: "refused", why });

export const write = (record: OperationRecord, lease: LeaseChange): Applied => ({
  tag: "write",
  record,
  lease,
});

export const hasLapsed = ({ leaseUntil }: Stored, now: number): boolean =>
  leaseUntil === undefined || now >= leaseUntil;

export function claim(
  stored: Stored | undefined,
  move: Extract<Move, { move: "claim" }>,
  now: number,
): Applied {
  if (!stored) return claimed(newRecord(move.draft, move.at), move, undefined, "first");
  const { record } = stored;
  const { state } = record;
  if (record.fingerprint !== move.draft.identity.fingerprint) return refused("conflict");
  switch (state.tag) {
    case "held": {
      const { ask } = state;
      if (!ask.answers.some((given) => given.counted && given.approve)) return refused("held");
      if (ask.digest !== move.spend) return refused("mismatch");
      if (now >= ask.expiresAt) return refused("expired");
      return claimed(redraft(record, move.draft), move, state, "first");
    }
    case "queued":
      return claimed(redraft(record, move.draft), move, state, "first");
    case "denied":
      return refused("denied");
    case "committed":
      return refused("settled");
    case "unknown":
      if (move.powerless) return refused("powerless");
      return claimed(record, move, state, undefined);
    case "claimed": {
      // The reply to this very claim was lost; it is ours.
      if (state.holder === move.holder) return { tag: "same" };
      if (!hasLapsed(stored, now)) return refused("busy");
      const lost: State = { tag: "unknown", reason: "owner-lost" };
      return claimed(presumeEnded(record, stored.leaseUntil), move, lost, undefined);
    }
    case "not_applied": {
      const cooled = state.reason === "resolved" || now >= record.stateAt + move.cooldownMs;
      if (!move.retry && (state.reason === "rejected" || !cooled)) return refused("settled");
      const generation = record.generation + (state.keyRejected ? 1 : 0);
      const next = { ...redraft(record, move.draft), generation };
      return claimed(next, move, state, LICENCE_AFTER[state.reason]);
    }
  }
}

/** What lets an operation that certainly did not happen be fired by a later call. */
const LICENCE_AFTER = {
  rejected: "L2",
  refused: "L2",
  absent: "L3",
  resolved: "L5",
  not_sent: "L1",
  aborted: "L1",
  expired: "L1",
} as const satisfies Record<string, Licence>;

/** With a licence the claim is also the note of the attempt about to be fired. */
function claimed(
  record: OperationRecord,
  move: Extract<Move, { move: "claim" }>,
  before: State | undefined,
  licence: Licence | undefined,
): Applied {
  const state: State = { tag: "claimed", holder: move.holder, before };
  const next = { ...enter(record, state, move.at), epoch: record.epoch + 1 };
  return write(licence ? addAttempt(next, licence, move.at) : next, move.leaseMs);
}

export function hold(
  stored: Stored | undefined,
  move: Extract<Move, { move: "hold" }>,
  now: number,
): Applied {
  const state: State = { tag: "held", ask: move.ask };
  if (!stored) return write(enter(newRecord(move.draft, move.at), state, move.at), "none");
  const { record } = stored;
  if (record.fingerprint !== move.draft.identity.fingerprint) return refused("conflict");
  if (record.state.tag === "denied") return refused("denied");
  if (record.state.tag === "committed" || record.state.tag === "unknown") return refused("settled");
  if (record.state.tag === "claimed") return refused("busy");
  if (record.state.tag === "held") {
    const { ask } = record.state;
    // The same question, still open or answered, is not asked twice.
    if (ask.digest === move.ask.digest && now < ask.expiresAt) return { tag: "same" };
  }
  return write(enter(redraft(record, move.draft), state, move.at), "none");
}

export function answer(
  record: OperationRecord,
  move: Extract<Move, { move: "answer" }>,
  now: number,
): Applied {
  if (record.state.tag !== "held")
    return refused(record.state.tag === "denied" ? "denied" : "not-open");
  const { ask } = record.state;
  if (ask.digest !== move.digest) return refused("mismatch");
  if (now >= ask.expiresAt) return refused("expired");
  const { approve, by, at, note } = move;
  const counted = !ask.answers.some((given) => given.counted);
  const answers = [...ask.answers, { approve, by, at, note, counted }].slice(-MAX_ANSWERS_KEPT);
  if (counted && !approve) return write(enter(record, { tag: "denied", by, note }, at), "none");
  return write({ ...record, state: { tag: "held", ask: { ...ask, answers } } }, "none");
}
