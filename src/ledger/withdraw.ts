/**
 * Taking a claim back: nothing was sent after all, so the operation stands where it stood before.
 *
 * @module
 */

import type { Applied } from "./apply.ts";
import { asksOf } from "./approval-question.ts";
import { isKeyRejected, refused, write } from "./begin.ts";
import { committedBy } from "./evidence.ts";
import type { Move } from "./moves.ts";
import {
  type Answer,
  type AttemptNote,
  hasCommitEvidence,
  type OperationRecord,
  type State,
} from "./record.ts";
import { enter } from "./record-edits.ts";

export function withdraw(
  record: OperationRecord,
  move: Extract<Move, { move: "withdraw" }>,
): Applied {
  const { state, epoch } = record;
  if (state.tag !== "claimed" || state.holder !== move.holder) return refused("not_open");
  // Filed while it was claimed, so it could not correct the state that would now come back.
  if (hasCommitEvidence(record)) {
    const committed = enter(record, committedBy(record), move.at);
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

/** Only the last attempt is vouched for by the withdrawal itself. */
const didNothing = ({ verdict }: AttemptNote, isLast: boolean): boolean =>
  verdict === "not_sent" || verdict === "refused" || (isLast && verdict === undefined);

/** The yes is to be used again: it stands with its question, and not with those that are closed. */
function unspent(
  answers: readonly Answer[] | undefined,
  held: Extract<State, { tag: "held" }>,
): readonly Answer[] | undefined {
  const open = asksOf(held).flatMap((ask) => ask.answers);
  const isOpen = ({ at, by }: Answer) => open.some((one) => one.at === at && one.by === by);
  const closed = answers?.filter((answer) => !isOpen(answer));
  return closed && closed.length > 0 ? closed : undefined;
}
