/**
 * The moves that begin something: claiming an operation, asking a person, and the person's answer.
 *
 * @module
 */

import type { Applied } from "./apply.ts";
import {
  asksOf,
  isApproved,
  keepAnswers,
  MAX_ANSWERS_KEPT,
  questionOf,
  setAside,
} from "./approval-question.ts";
import { doubt, lostSince } from "./lost-data.ts";
import type { Move, Refusal } from "./moves.ts";
import {
  type Ask,
  type AttemptNote,
  hasCommitEvidence,
  type Licence,
  type OperationRecord,
  type State,
  type Stored,
} from "./record.ts";
import {
  addAttempt,
  addNames,
  enter,
  fenceEnlisted,
  lostRecord,
  newRecord,
  presumeEnded,
  redraft,
} from "./record-edits.ts";
import type { LeaseChange } from "./store.ts";

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
      if (now >= ask.expiresAt) return refused("expired");
      const doubted = doubt(again(record, state.before, move), state, move);
      const spent = remember(doubted.record, ask);
      return claimed(spent, move, doubted.state, licenceAfter(doubted.state.before));
    }
    case "queued":
      if (move.needsYes) return refused("held");
      return claimed(redraft(record, move.draft), move, state, "first");
    case "denied":
      return refused("denied");
    case "committed":
      return refused("settled");
    case "unknown":
      // A composite of guarded operations can always be run again: those replay.
      if (move.powerless && !record.attempts.some(canRunAgain)) {
        return refused("powerless");
      }
      return claimed(fenceEnlisted(record), move, state, undefined);
    case "claimed": {
      // The reply to this very claim was lost; it is ours.
      if (state.holder === move.holder) return { tag: "same" };
      if (!hasLapsed(stored, now)) return refused("busy");
      const lost: State = { tag: "unknown", reason: "owner_lost" };
      const ended = presumeEnded(fenceEnlisted(record), stored.leaseUntil);
      return claimed(ended, move, lost, undefined);
    }
    case "not_applied": {
      const cooled = state.reason === "resolved" || now >= record.stateAt + move.cooldownMs;
      if (!move.retry && (state.reason === "rejected" || !cooled)) return refused("settled");
      if (move.needsYes) return refused("held");
      const next = again(record, state, move);
      // It may have been fired since, in what was lost.
      const lost = lostSince(next, move);
      if (lost) return claimed(lost.record, move, lost.before, undefined);
      return claimed(next, move, state, licenceAfter(state));
    }
  }
}

const canRunAgain = ({ innerOnly, declared }: AttemptNote): boolean =>
  innerOnly === true || declared?.enlisted === true;

/** A key that the service itself rejected is not used again. */
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

/** None where it may have been sent in a life the store has forgotten: look first. */
function licenceAfter(before: State | undefined): Licence | undefined {
  if (before?.tag === "unknown") return undefined;
  return before?.tag === "not_applied" ? LICENCE_AFTER[before.reason] : "first";
}

/** What lets an operation that certainly did not happen be fired by a later call. */
const LICENCE_AFTER = {
  rejected: "refused",
  refused: "refused",
  absent: "absent",
  resolved: "person",
  not_sent: "not_sent",
  aborted: "not_sent",
  expired: "not_sent",
} as const satisfies Record<string, Licence>;

/** With a licence the claim is also the note of the attempt about to be fired. */
function claimed(
  record: OperationRecord,
  move: Extract<Move, { move: "claim" }>,
  before: State | undefined,
  licence: Licence | undefined,
): Applied {
  // Nothing is fired once somebody knows of a commit, whatever the state says.
  if (licence && hasCommitEvidence(record)) return refused("evidence");
  const beforeAt = before && record.stateAt;
  const state: State = { tag: "claimed", holder: move.holder, before, beforeAt };
  const { run } = move.draft.identity;
  const runs = addNames(record.runs, run === undefined ? [] : [run]);
  const next = { ...enter(record, state, move.at), runs, epoch: record.epoch + 1 };
  return write(licence ? addAttempt(next, licence, move.at, move.declared) : next, move.leaseMs);
}

export function hold(
  stored: Stored | undefined,
  move: Extract<Move, { move: "hold" }>,
  now: number,
): Applied {
  const { ask } = move;
  if (!stored) {
    const { record, before } = move.suspect
      ? lostRecord(move.draft, move.at, move.suspect)
      : { record: newRecord(move.draft, move.at), before: undefined };
    return write(enter(record, { tag: "held", ask, before }, move.at), "none");
  }
  const { record } = stored;
  if (record.fingerprint !== move.draft.identity.fingerprint) return refused("conflict");
  if (record.state.tag === "denied") return refused("denied");
  if (record.state.tag === "committed" || record.state.tag === "unknown") return refused("settled");
  if (record.state.tag === "claimed") return refused("busy");
  const redrafted = redraft(record, move.draft);
  if (record.state.tag !== "held") {
    const before = record.state.tag === "not_applied" ? record.state : undefined;
    return write(enter(redrafted, { tag: "held", ask, before }, move.at), "none");
  }
  const { ask: asked } = record.state;
  // The same question, still open or answered, is not asked twice.
  if (asked.digest === ask.digest && now < asked.expiresAt) {
    const { record: doubted, state } = doubt(record, record.state, move);
    return doubted === record ? { tag: "same" } : write({ ...doubted, state }, "none");
  }
  const { record: doubted, state } = doubt(redrafted, record.state, move);
  const aside = setAside(state, ask, now);
  const closed = asksOf(state).filter((one) => !aside?.includes(one));
  const told = closed.reduce(remember, doubted);
  return write(enter(told, { tag: "held", ask, aside, before: state.before }, move.at), "none");
}

/** Who said what stays known when the question is gone. */
function remember(record: OperationRecord, { answers }: Ask): OperationRecord {
  if (answers.length === 0) return record;
  return { ...record, answers: [...(record.answers ?? []), ...answers].slice(-MAX_ANSWERS_KEPT) };
}

export function answer(
  record: OperationRecord,
  move: Extract<Move, { move: "answer" }>,
  now: number,
): Applied {
  const { approve, by, at, note, digest } = move;
  const { state } = record;
  if (state.tag === "denied") {
    if (state.digest !== digest) return refused("denied");
    // It came too late to decide anything; that it came is kept.
    const late = { approve, by, at, note, counted: false };
    const answers = keepAnswers([...(state.answers ?? []), late]);
    return write({ ...record, state: { ...state, answers } }, "none");
  }
  if (state.tag !== "held") return refused("not_open");
  const ask = questionOf(state, digest);
  // Only a no is good for a question that another one has replaced.
  if (!ask || (approve && ask !== state.ask)) return refused("mismatch");
  if (now >= ask.expiresAt) return refused("expired");
  // The first yes counts. A no counts as long as nothing has been sent, and is final.
  const counted = !approve || !ask.answers.some((given) => given.counted);
  const answers = keepAnswers([...ask.answers, { approve, by, at, note, counted }]);
  if (!approve) {
    const others = asksOf(state).filter((one) => one !== ask);
    const told = others.reduce(remember, record);
    return write(enter(told, { tag: "denied", by, note, digest, answers }, at), "none");
  }
  // Decided: what was shown has done its work.
  const decided = { ...ask, answers, shown: undefined };
  const put = (one: Ask): Ask => (one === ask ? decided : one);
  const held = { ...state, ask: put(state.ask), aside: state.aside?.map(put) };
  return write({ ...record, state: held }, "none");
}
