/**
 * The moves of an approval: holding an operation until a person answers, and the person's answer.
 *
 * @module
 */

import type { Ask, OperationRecord, Stored } from "../record.ts";
import {
  asksOf,
  hasExpired,
  keepAnswers,
  MAX_ANSWERS_KEPT,
  questionOf,
  setAside,
  wallOf,
} from "./approval-question.ts";
import { doubtHeld, lostRecord } from "./lost-data.ts";
import type { Move } from "./moves.ts";
import { type Applied, refused, write } from "./moves.ts";
import { enter, newRecord, redraft } from "./record-edits.ts";

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
  if (record.state.tag === "not_applied") {
    return write(enter(redrafted, { tag: "held", ask, before: record.state }, move.at), "none");
  }
  const { ask: asked } = record.state;
  // The same question, still open or answered, is not asked twice.
  const isOver = (one: Ask) => hasExpired(one, now, wallOf(move));
  if (asked.digest === ask.digest && !isOver(asked)) {
    const { record: doubted, state } = doubtHeld(record, record.state, move);
    return doubted === record ? { tag: "same" } : write({ ...doubted, state }, "none");
  }
  const { record: doubted, state } = doubtHeld(redrafted, record.state, move);
  const aside = setAside(state, ask, isOver);
  const closed = asksOf(state).filter((one) => !aside?.includes(one));
  const told = closed.reduce(keepClosedAnswers, doubted);
  return write(enter(told, { tag: "held", ask, aside, before: state.before }, move.at), "none");
}

/** Keeps the answers to a question that is closed: the record shows who said what. */
export function keepClosedAnswers(record: OperationRecord, { answers }: Ask): OperationRecord {
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
    // Too late to decide anything; recorded all the same.
    const late = { approve, by, at, note, counted: false };
    const answers = keepAnswers([...(state.answers ?? []), late]);
    return write({ ...record, state: { ...state, answers } }, "none");
  }
  if (state.tag !== "held") return refused("not_open");
  const ask = questionOf(state, digest);
  // A question that another one has replaced can still be denied, but not approved.
  if (!ask || (approve && ask !== state.ask)) return refused("mismatch");
  // What ends is the right to fire. A no gives none, so it never comes too late.
  if (approve && hasExpired(ask, now, wallOf(move))) return refused("expired");
  // The first yes counts. A no counts until something is sent, and is final.
  const counted = !approve || !ask.answers.some((given) => given.counted);
  const answers = keepAnswers([...ask.answers, { approve, by, at, note, counted }]);
  if (!approve) {
    const others = asksOf(state).filter((one) => one !== ask);
    const told = others.reduce(keepClosedAnswers, record);
    return write(enter(told, { tag: "denied", by, note, digest, answers }, at), "none");
  }
  // Decided, so what was shown is no longer needed.
  const decided = { ...ask, answers, shown: undefined };
  const put = (one: Ask): Ask => (one === ask ? decided : one);
  const held = { ...state, ask: put(state.ask), aside: state.aside?.map(put) };
  return write({ ...record, state: held }, "none");
}
