/**
 * What a record is worth that stands in a store which has lost data: it may be older than what became of
 * its operation.
 *
 * @module
 */

import type { Move } from "./moves.ts";
import type { OperationRecord, State } from "./record.ts";
import { LOST_EPOCH, lostRecord } from "./record-edits.ts";

/** That a person is asked proves that nothing was sent; not where the store has lost data. */
export function doubt(
  record: OperationRecord,
  state: Extract<State, { tag: "held" }>,
  move: Suspecting,
): { readonly record: OperationRecord; readonly state: Extract<State, { tag: "held" }> } {
  const lost = lostSince(record, move);
  return lost
    ? { record: lost.record, state: { ...state, before: lost.before } }
    : { record, state };
}

type Suspecting = Pick<Extract<Move, { move: "hold" }>, "draft" | "at" | "suspect">;

/** A record may be older than what was lost. It is doubted once: whoever settles that knows of it. */
export function lostSince(
  record: OperationRecord,
  { draft, at, suspect }: Suspecting,
): { readonly record: OperationRecord; readonly before: State } | undefined {
  const isKnown = record.attempts.some(({ epoch }) => epoch === LOST_EPOCH);
  if (!suspect || isKnown) return undefined;
  const { record: lost, before } = lostRecord(draft, at, suspect);
  const { generation, fired } = record;
  const notes = lost.attempts.map((note) => ({ ...note, n: fired + note.n, generation }));
  const attempts = [...record.attempts, ...notes];
  return { record: { ...record, fired: fired + notes.length, attempts }, before };
}
