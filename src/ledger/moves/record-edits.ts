/**
 * Small pure edits of a record, used by the moves.
 *
 * @module
 */

import type { Licence } from "../../reasons.ts";
import {
  type AttemptNote,
  type AttemptUpdate,
  type Declared,
  isCleared,
  isOpen,
  type OperationRecord,
  type State,
} from "../record.ts";
import type { Draft, NewAttempt } from "./moves.ts";

const MAX_ATTEMPTS_KEPT = 32;
const MAX_NAMES_KEPT = 16;

/** A record before the move that makes it has given it a state. */
export type Stateless = Omit<OperationRecord, "state">;

/** Puts the record into a state. The intent is kept only while the operation is open. */
export function enter(record: Stateless, state: State, at: number): OperationRecord {
  return { ...record, state, stateAt: at, intent: isOpen(state) ? record.intent : undefined };
}

/** Shared by all new records: most of them never have any. */
const NONE: readonly never[] = Object.freeze([]);

export const newRecord = (draft: Draft, at: number): Stateless => ({
  ...draft.identity,
  stateAt: at,
  createdAt: at,
  epoch: 0,
  generation: 0,
  argsHash: draft.argsHash,
  fields: draft.fields,
  intent: draft.intent,
  precondition: draft.precondition,
  aliases: addNames(NONE, draft.aliases),
  runs: draft.identity.run === undefined ? NONE : [draft.identity.run],
  attempts: NONE,
  fired: 0,
  evidence: NONE,
});

/** What makes a record, with the name of the program in it. */
export const madeBy = <T extends { readonly record: OperationRecord | undefined }>(
  app: string | undefined,
  made: T,
): T => (app === undefined || !made.record ? made : { ...made, record: { ...made.record, app } });

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

/** The attempts with another one, about to be fired by the owner of this epoch. */
export function addAttempt(
  { generation, fired, attempts }: Stateless,
  epoch: number,
  licence: Licence,
  { at, skew, endsBy, declared }: NewAttempt,
): Pick<OperationRecord, "attempts" | "fired"> {
  const n = fired + 1;
  const note: AttemptNote = { n, epoch, generation, licence, at, skew, endsBy, declared };
  return { fired: n, attempts: trim([...attempts, note]) };
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
  const { at, skew } = first;
  const one: AttemptNote = {
    ...first,
    ...second,
    at,
    skew,
    // What holds for both. A promise that was made for one of them does not cover the other.
    declared: declaredForBoth(first, second),
    tookKey: first.tookKey === false ? false : second.tookKey,
    tookPrecondition: first.tookPrecondition === false ? false : second.tookPrecondition,
    innerOnly: innerOnlyOfBoth(first, second),
    // What holds for one of them: a yes to it, or a way out of it, is not taken back by the other.
    unverified: first.unverified || second.unverified,
    accepted: first.accepted || second.accepted,
    unvetoable: first.unvetoable ?? second.unvetoable,
    wireRequests: requestsOfBoth(first, second),
    endedAt: undefined,
    endsBy: Number.isFinite(end) ? end : undefined,
  };
  return [one, ...attempts.slice(2)];
}

const declaredForBoth = (
  { declared: one = {} }: AttemptNote,
  { declared: other = {} }: AttemptNote,
): Declared => ({
  keyed: one.keyed && other.keyed,
  conditional: one.conditional && other.conditional,
  enlisted: one.enlisted && other.enlisted,
});

/** Only if both were made of guarded operations alone can both run again as those. */
function innerOnlyOfBoth(
  { innerOnly: one }: AttemptNote,
  { innerOnly: other }: AttemptNote,
): boolean | undefined {
  return other === false ? false : one && other;
}

const requestsOfBoth = (
  { wireRequests: one }: AttemptNote,
  { wireRequests: other }: AttemptNote,
): number | undefined => (one === undefined || other === undefined ? undefined : one + other);

const endOf = ({ endedAt, endsBy }: AttemptNote): number =>
  endedAt ?? endsBy ?? Number.POSITIVE_INFINITY;

/** A write of it left after its end: what was concluded from that end is void. */
export const endLater = (attempt: AttemptNote, endedAt: number): AttemptNote => ({
  ...attempt,
  verdict: "unknown",
  cleared: undefined,
  endedAt: Math.max(attempt.endedAt ?? 0, endedAt),
});

/** Whether an update concludes that nothing happened from an end that was not the last. */
const isVoid = (attempt: AttemptNote, update: AttemptUpdate): boolean =>
  (attempt.endedAt ?? 0) > (update.endedAt ?? Number.POSITIVE_INFINITY) &&
  !isCleared(attempt) &&
  isCleared({ ...attempt, ...update });

/** Adds an update to an attempt without losing what other processes have recorded meanwhile. */
function merge(attempt: AttemptNote, update: AttemptUpdate): AttemptNote {
  if (isVoid(attempt, update)) return attempt;
  const { verdict } = attempt;
  const settled = verdict !== undefined && verdict !== "unknown";
  const endedAt = attempt.endedAt ?? update.endedAt;
  const endsBy = Math.max(attempt.endsBy ?? 0, update.endsBy ?? 0);
  return {
    ...attempt,
    ...update,
    // What its note says never changes. `at` is the first send, also where two attempts became one.
    epoch: attempt.epoch,
    generation: attempt.generation,
    licence: attempt.licence,
    at: attempt.at,
    skew: attempt.skew,
    verdict: settled ? verdict : (update.verdict ?? verdict),
    endedAt,
    endsBy: endedAt === undefined && endsBy > 0 ? endsBy : undefined,
    unvetoable: attempt.unvetoable ?? update.unvetoable,
    unverified: attempt.unverified || update.unverified,
    accepted: attempt.accepted || update.accepted,
  };
}

/**
 * Whether the attempts that did nothing, by an answer or by a read, are still as the owner saw them. A decision made
 * on other facts must not be written.
 */
export function isAsKnown(record: OperationRecord, updates: readonly AttemptUpdate[]): boolean {
  return updates.every((update) => {
    const attempt = record.attempts.find(({ n }) => n === update.n);
    if (attempt && isVoid(attempt, update)) return false;
    if (update.cleared !== "absent" || !attempt || attempt.cleared) return true;
    if (attempt.verdict === "committed") return false;
    if ((attempt.unverified && !update.unverified) || (attempt.accepted && !update.accepted)) {
      return false;
    }
    // Who has seen it end needs no note of when it ends at the latest.
    if (update.endedAt !== undefined) return (attempt.endedAt ?? 0) <= update.endedAt;
    return (attempt.endedAt ?? attempt.endsBy ?? 0) <= (update.endsBy ?? 0);
  });
}

export function withUpdates(
  record: OperationRecord,
  updates: readonly AttemptUpdate[],
): OperationRecord {
  return updates.length === 0 ? record : { ...record, ...updatedAttempts(record, updates) };
}

/** The attempts with what became known of them, without those that were noted and never fired. */
export function updatedAttempts(
  record: OperationRecord,
  updates: readonly AttemptUpdate[],
): Pick<OperationRecord, "attempts" | "fired"> {
  const attempts: AttemptNote[] = [];
  for (const attempt of record.attempts) {
    const update = updates.find(({ n }) => n === attempt.n);
    if (!update?.neverFired) attempts.push(update ? merge(attempt, update) : attempt);
  }
  return { attempts, fired: record.fired - (record.attempts.length - attempts.length) };
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

export function addNames(known: readonly string[], more: readonly string[]): readonly string[] {
  if (more.every((name) => known.includes(name))) return known;
  const added = [...new Set(more)].filter((name) => !known.includes(name));
  return [...known, ...added].slice(-MAX_NAMES_KEPT);
}
