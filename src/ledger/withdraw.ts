/**
 * The move that takes a claim back because nothing was sent: the operation returns to the state it had
 * before the claim.
 *
 * @module
 */

import { type Applied, refused, write } from "./applied.ts";
import { asksOf } from "./approval-question.ts";
import { isKeyRejected } from "./claim-move.ts";
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
  // A commit filed during the claim did not correct the earlier state, so it is written now.
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
