/**
 * Records in a store that has lost data. A missing record proves nothing there, and a record that
 * exists may be older than what happened to its operation: both get one attempt in doubt.
 *
 * A record that is lost while its owner runs: the refused renewal stops further firing (`engine/steps/parts/lease.ts`), a slow
 * attempt goes on noting that it runs (`still-running.ts` beside it), the owner's note or settle makes the store suspect
 * (`OWNERS` in `ledger.ts`), and the settle restores the record, or files what was seen in the one made anew
 * (`engine/steps/parts/late.ts`). Proved in `test/scenarios/lost-while-running.test.ts` and `restored-record.test.ts`.
 *
 * @module
 */

import {
  type AttemptNote,
  type AttemptUpdate,
  isCleared,
  type OperationRecord,
  type State,
} from "../record.ts";
import { type Applied, type Draft, type Lost, type Move, write } from "./moves.ts";
import { enter, newRecord, type Stateless } from "./record-edits.ts";

/** The epoch of an attempt that may have been made before the store lost data. No claim has it. */
export const LOST_EPOCH = 0;

/** Stands for the number of an attempt that was noted in a record which was lost. No attempt of the new one has it. */
export const LOST_ATTEMPT = 0;

/** A new record where the store may have lost an earlier one. */
export const lostRecord = (
  draft: Draft,
  at: number,
  lost: Lost,
): { readonly record: Stateless; readonly before: State } => ({
  record: "known" in lost ? knownRecord(lost.known) : suspectedRecord(draft, at, lost),
  before: { tag: "unknown", reason: "store_lost" },
});

const knownRecord = (known: OperationRecord): OperationRecord => ({
  ...known,
  attempts: known.attempts.map((attempt) => ({ ...attempt, epoch: LOST_EPOCH })),
});

function suspectedRecord(
  draft: Draft,
  at: number,
  { since, sendsForMs, declared }: Exclude<Lost, { known: OperationRecord }>,
): Stateless {
  const lost: AttemptNote = {
    n: 1,
    epoch: LOST_EPOCH,
    generation: 0,
    licence: "first",
    at: since,
    declared,
    // Its owner may still run.
    endsBy: at + sendsForMs,
  };
  return { ...newRecord(draft, at), attempts: [lost], fired: 1 };
}

/**
 * The owner of a lost record has sent, and does not know what became of it. The record was made anew without that
 * attempt, by a process that knew of no loss: what it concludes from its own attempts alone is not certain. Added once.
 */
export function doubtLost(record: OperationRecord, note: AttemptNote, at: number): Applied {
  const { state } = record;
  const isKnown = record.attempts.some(({ epoch }) => epoch === LOST_EPOCH);
  if (isKnown || state.tag === "committed") return { tag: "same" };
  const lost = { ...note, n: LOST_ATTEMPT, epoch: LOST_EPOCH, verdict: "unknown" } as const;
  // The first, as it was sent before: the last one is the owner's own.
  const doubted = { ...record, attempts: [lost, ...record.attempts] };
  const reason = record.abandonedFor === undefined ? "store_lost" : "abandoned";
  const unknown: State = { tag: "unknown", reason };
  switch (state.tag) {
    case "claimed":
      return write({ ...doubted, state: { ...state, before: unknown, beforeAt: at } }, "keep");
    case "held":
      return write({ ...doubted, state: { ...state, before: unknown } }, "keep");
    case "not_applied":
      return write(enter({ ...doubted, untold: true }, unknown, at), "none");
    case "unknown":
    case "denied":
      return write(doubted, "keep");
  }
}

/** Whether there is an attempt in doubt, of a lost record, that this owner has not heard of. */
export const hasLostUnheard = (
  { attempts }: OperationRecord,
  updates: readonly AttemptUpdate[],
): boolean =>
  attempts.some(
    (one) =>
      one.n === LOST_ATTEMPT && !isCleared(one) && !updates.some(({ n }) => n === LOST_ATTEMPT),
  );

type Suspecting = Pick<Extract<Move, { move: "hold" }>, "draft" | "at" | "suspect">;

/**
 * Adds the attempt in doubt to a record that may be older than the loss. Added once: whoever settles
 * the operation after that knows of the doubt.
 */
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
  return { record: { ...record, fired: fired + lost.fired, attempts }, before };
}

/** A held record proves that nothing was sent, except in a store that has lost data. */
export function doubtHeld(
  record: OperationRecord,
  state: Extract<State, { tag: "held" }>,
  move: Suspecting,
): { readonly record: OperationRecord; readonly state: Extract<State, { tag: "held" }> } {
  const lost = lostSince(record, move);
  return lost
    ? { record: lost.record, state: { ...state, before: lost.before } }
    : { record, state };
}
