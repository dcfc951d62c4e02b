/**
 * Files a late reply as evidence. Evidence does not overrule an owner, but a commit is the one fact
 * that may still correct a settled record.
 *
 * @module
 */

import type { Evidence, OperationRecord, State, Stored } from "../record.ts";
import { withUpdates } from "./attempt-edits.ts";
import { doubtLost, LOST_ATTEMPT, LOST_EPOCH } from "./lost-data.ts";
import { type Applied, hasLapsed, isOtherIntent, type Move, refused } from "./moves.ts";
import { enter } from "./record-edits.ts";

const MAX_EVIDENCE_KEPT = 16;

export function fileEvidence(
  stored: Stored,
  move: Extract<Move, { move: "file" }>,
  now: number,
): Applied {
  const { record } = stored;
  const { state } = record;
  const { dedupes, at } = move;
  if (isOtherIntent(record, move)) return refused("conflict");
  const isOfLost = isOfLostNote(record, move);
  const evidence = isOfLost ? { ...move.evidence, attempt: LOST_ATTEMPT } : move.evidence;
  const { attempt, verdict, status } = evidence;
  // An owner settles a claimed operation itself, unless it is gone. In every other state the commit is written
  // here, else a later claim could fire it again.
  const isOwned = state.tag === "claimed" && !hasLapsed(stored, now);
  const corrects = verdict === "committed" && state.tag !== "committed" && !isOwned;
  const isKnown = record.evidence.some((seen) => isEqual(seen, evidence));
  if (isKnown && !corrects) return { tag: "same" };
  if (isOfLost && verdict !== "committed") {
    return verdict === "unknown" && move.note ? doubtLost(record, move.note, at) : { tag: "same" };
  }
  const update = move.update ?? { n: attempt, endedAt: evidence.at, verdict, status };
  const updated = isOfLost ? record : withUpdates(record, [update]);
  const filed = isKnown ? record.evidence : keep([...record.evidence, evidence]);
  const next = { ...updated, evidence: filed };
  if (corrects) {
    return {
      tag: "write",
      record: enter({ ...next, untold: true }, committedBy(next), at),
      lease: "none",
      report: "corrected",
    };
  }
  const twice =
    verdict === "committed" && state.tag === "committed" && !isSameEffect(state, evidence, dedupes);
  return { tag: "write", record: next, lease: "keep", report: twice ? "duplicate" : undefined };
}

/** The note of its attempt was lost: with the record, or with what the record has lost, and its number was given anew. */
function isOfLostNote(
  { createdAt, attempts }: OperationRecord,
  { madeAt = createdAt, evidence: { attempt, epoch } }: Extract<Move, { move: "file" }>,
): boolean {
  if (madeAt !== createdAt) return true;
  const noted = attempts.find(({ n }) => n === attempt)?.epoch ?? epoch;
  return noted !== epoch && noted !== LOST_EPOCH;
}

export const hasCommitEvidence = (record: Pick<OperationRecord, "evidence">): boolean =>
  record.evidence.some((evidence) => evidence.verdict === "committed");

/** The committed state that the filed evidence proves. */
export function committedBy(record: OperationRecord): State {
  const proof = record.evidence.find(({ verdict }) => verdict === "committed");
  const { effect, effectId, payload, found } = proof ?? {};
  const attempt = found ? undefined : proof?.attempt;
  return { tag: "committed", via: found ? "read" : "late", effect, effectId, payload, attempt };
}

/** Whether a commit that is settled now is another effect than one filed before. */
export function isTwice(
  { evidence }: OperationRecord,
  { state, dedupes = true }: Extract<Move, { move: "settle" }>,
): boolean {
  if (state.tag !== "committed") return false;
  return evidence.some(
    (filed) => filed.verdict === "committed" && !isSameEffect(state, filed, dedupes),
  );
}

function isSameEffect(
  state: Extract<State, { tag: "committed" }>,
  evidence: Evidence,
  dedupes: boolean,
): boolean {
  if (state.effectId !== undefined && evidence.effectId !== undefined) {
    return state.effectId === evidence.effectId;
  }
  // A commit found by a read may be the same one; a service that dedupes answers twice for one effect.
  if (dedupes || state.attempt === undefined || evidence.found) return true;
  return state.attempt === evidence.attempt && evidence.attempt !== LOST_ATTEMPT;
}

/** Drops the oldest evidence first, but never a commit. */
function keep(evidence: readonly Evidence[]): readonly Evidence[] {
  if (evidence.length <= MAX_EVIDENCE_KEPT) return evidence;
  const oldest = evidence.findIndex(({ verdict }) => verdict !== "committed");
  return evidence.toSpliced(Math.max(oldest, 0), 1);
}

/** Whether it was filed before and is sent again because the store's reply was lost. */
const isEqual = (one: Evidence, other: Evidence): boolean =>
  one.attempt === other.attempt &&
  one.epoch === other.epoch &&
  one.verdict === other.verdict &&
  one.at === other.at;
