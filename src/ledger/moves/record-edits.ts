/**
 * Small pure edits of a record, used by the moves.
 *
 * @module
 */

import {
  type AttemptNote,
  type Declared,
  type Ending,
  isCleared,
  isOpen,
  type Licence,
  type OperationRecord,
  type State,
} from "../record.ts";
import type { Draft } from "./moves.ts";

const MAX_ATTEMPTS_KEPT = 32;
const MAX_NAMES_KEPT = 16;

/** Puts the record into a state. The intent is kept only while the operation is open. */
export function enter(record: OperationRecord, state: State, at: number): OperationRecord {
  return { ...record, state, stateAt: at, intent: isOpen(state) ? record.intent : undefined };
}

export const newRecord = (draft: Draft, at: number): OperationRecord => ({
  ...draft.identity,
  state: { tag: "queued" },
  stateAt: at,
  createdAt: at,
  epoch: 0,
  generation: 0,
  argsHash: draft.argsHash,
  fields: draft.fields,
  intent: draft.intent,
  precondition: draft.precondition,
  aliases: addNames([], draft.aliases),
  runs: draft.identity.run === undefined ? [] : [draft.identity.run],
  attempts: [],
  fired: 0,
  evidence: [],
});

/** Takes over the arguments of this call: nothing was sent before, or certainly nothing happened. */
export const redraft = (record: OperationRecord, draft: Draft): OperationRecord => ({
  ...record,
  argsHash: draft.argsHash,
  fields: draft.fields,
  intent: draft.intent,
  precondition: draft.precondition,
  aliases: addNames(record.aliases, draft.aliases),
  runs: addNames(record.runs, draft.identity.run === undefined ? [] : [draft.identity.run]),
});

export function addAttempt(
  record: OperationRecord,
  licence: Licence,
  at: number,
  declared: Declared | undefined,
): OperationRecord {
  const { epoch, generation } = record;
  const note: AttemptNote = { n: record.fired + 1, epoch, generation, licence, at, declared };
  return { ...record, fired: record.fired + 1, attempts: trim([...record.attempts, note]) };
}

/** Drops the oldest attempt that is cleared, never one that is still in doubt. */
function trim(attempts: readonly AttemptNote[]): readonly AttemptNote[] {
  if (attempts.length <= MAX_ATTEMPTS_KEPT) return attempts;
  const oldest = attempts.findIndex(isCleared);
  if (oldest >= 0) return attempts.toSpliced(oldest, 1);
  // All are in doubt: the two oldest with one key become one, from the first send to the last end.
  const [first, second] = attempts;
  if (!first || !second || first.generation !== second.generation) return attempts;
  const end = Math.max(endOf(first), endOf(second));
  const one = { ...first, ...second, n: second.n, at: first.at, endedAt: undefined, endsBy: end };
  return [Number.isFinite(end) ? one : { ...one, endsBy: undefined }, ...attempts.slice(2)];
}

const endOf = ({ endedAt, endsBy }: AttemptNote): number =>
  endedAt ?? endsBy ?? Number.POSITIVE_INFINITY;

/** Adds an ending to an attempt without losing what other processes have recorded meanwhile. */
function merge(attempt: AttemptNote, ending: Ending): AttemptNote {
  const { verdict } = attempt;
  const settled = verdict !== undefined && verdict !== "unknown";
  const endsBy = Math.max(attempt.endsBy ?? 0, ending.endsBy ?? 0);
  return {
    ...attempt,
    ...ending,
    // What its note says never changes. `at` is the first send, also where two attempts became one.
    epoch: attempt.epoch,
    generation: attempt.generation,
    licence: attempt.licence,
    at: attempt.at,
    verdict: settled ? verdict : (ending.verdict ?? verdict),
    endedAt: attempt.endedAt ?? ending.endedAt,
    endsBy: endsBy > 0 ? endsBy : undefined,
    unverified: attempt.unverified || ending.unverified,
    accepted: attempt.accepted || ending.accepted,
  };
}

/**
 * Whether the attempts that a read clears are still as the owner saw them. A decision made on other
 * facts must not be written.
 */
export function isAsKnown(record: OperationRecord, endings: readonly Ending[]): boolean {
  return endings.every((ending) => {
    if (ending.cleared !== "absent") return true;
    const attempt = record.attempts.find(({ n }) => n === ending.n);
    if (!attempt || attempt.cleared) return true;
    if (attempt.verdict === "committed") return false;
    if ((attempt.unverified && !ending.unverified) || (attempt.accepted && !ending.accepted)) {
      return false;
    }
    const believed = ending.endedAt ?? ending.endsBy ?? 0;
    return (attempt.endedAt ?? attempt.endsBy ?? 0) <= believed;
  });
}

export function endAttempts(record: OperationRecord, endings: readonly Ending[]): OperationRecord {
  if (endings.length === 0) return record;
  const attempts = record.attempts.flatMap((attempt) => {
    const ending = endings.find(({ n }) => n === attempt.n);
    if (ending?.unfired) return [];
    return [ending ? merge(attempt, ending) : attempt];
  });
  const fired = record.fired - (record.attempts.length - attempts.length);
  return { ...record, attempts, fired };
}

/**
 * The next owner's epoch fences out earlier owners: an effect that was to commit in one transaction
 * with its record can no longer commit.
 */
export function fenceEnlisted(record: OperationRecord): OperationRecord {
  if (!record.attempts.some(({ declared }) => declared?.enlisted)) return record;
  const attempts = record.attempts.map((attempt) =>
    attempt.declared?.enlisted ? { ...attempt, verdict: "not_sent" as const } : attempt,
  );
  return { ...record, attempts };
}

export function presumeEnded(
  record: OperationRecord,
  leaseUntil: number | undefined,
): OperationRecord {
  const attempts = record.attempts.map((attempt) =>
    attempt.endedAt !== undefined || attempt.endsBy !== undefined
      ? attempt
      : { ...attempt, endsBy: leaseUntil },
  );
  return { ...record, attempts };
}

export function addNames(known: readonly string[], more: readonly string[]): readonly string[] {
  if (more.every((name) => known.includes(name))) return known;
  const added = [...new Set(more)].filter((name) => !known.includes(name));
  return added.length === 0 ? known : [...known, ...added].slice(-MAX_NAMES_KEPT);
}
