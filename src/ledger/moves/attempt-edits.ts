/**
 * Small pure edits of the attempts of a record, used by the moves.
 *
 * @module
 */

import type { Licence } from "../../reasons.ts";
import {
  type AttemptNote,
  type AttemptUpdate,
  type Declared,
  isCleared,
  type OperationRecord,
} from "../record.ts";
import type { NewAttempt } from "./moves.ts";
import type { Stateless } from "./record-edits.ts";

const MAX_ATTEMPTS_KEPT = 32;

/** The attempts with another one, about to be fired by the owner of this epoch. */
export function addAttempt(
  { generation, fired, attempts }: Stateless,
  epoch: number,
  licence: Licence,
  { at, skew, endsBy, declared }: NewAttempt,
): Pick<OperationRecord, "attempts" | "fired"> {
  const n = fired + 1;
  const note: AttemptNote = {
    n,
    epoch,
    generation,
    licence,
    at,
    skew,
    endsBy,
    declared,
    // All that is known of most attempts in the end: what is there is filled in faster than it is added.
    endedAt: undefined,
    verdict: undefined,
    status: undefined,
    wireRequests: undefined,
  };
  return { fired: n, attempts: trim(attempts.length === 0 ? [note] : [...attempts, note]) };
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
  const { n, epoch, licence } = second;
  const one: AttemptNote = {
    ...withKnown(first, second),
    n,
    epoch,
    licence,
    // What holds for both. A promise that was made for one of them does not cover the other.
    declared: declaredForBoth(first, second),
    tookKey: first.tookKey === false ? false : second.tookKey,
    tookPrecondition: first.tookPrecondition === false ? false : second.tookPrecondition,
    innerOnly: innerOnlyOfBoth(first, second),
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
  isCleared(withKnown(attempt, update));

/** Adds an update to an attempt without losing what other processes have recorded meanwhile. */
export const merge = (attempt: AttemptNote, update: AttemptUpdate): AttemptNote =>
  isVoid(attempt, update) ? attempt : withKnown(attempt, update);

/** The note of an attempt with what is known of it beyond that, whatever the two conclude. */
export function withKnown(attempt: AttemptNote, update: AttemptUpdate): AttemptNote {
  const { verdict } = attempt;
  const settled = verdict !== undefined && verdict !== "unknown";
  const endedAt = attempt.endedAt ?? update.endedAt;
  const endsBy = Math.max(attempt.endsBy ?? 0, update.endsBy ?? 0);
  const answered: AttemptNote = {
    // `n`, `epoch`, `generation`, `licence`, `at` and `skew` never change. `at` is the first send, also where two attempts became one.
    ...attempt,
    endsBy: endedAt === undefined && endsBy > 0 ? endsBy : undefined,
    declared: update.declared ?? attempt.declared,
    endedAt,
    verdict: settled ? verdict : (update.verdict ?? verdict),
    status: update.status ?? attempt.status,
    wireRequests: update.wireRequests ?? attempt.wireRequests,
  };
  return hasMore(update) ? withMore(answered, update) : answered;
}

const hasMore = (update: AttemptUpdate): boolean =>
  (update.proven ??
    update.failure ??
    update.tookKey ??
    update.tookPrecondition ??
    update.replayed ??
    update.unvetoable ??
    update.unverified ??
    update.accepted ??
    update.innerOnly ??
    update.cleared) !== undefined;

const withMore = (attempt: AttemptNote, update: AttemptUpdate): AttemptNote => ({
  ...attempt,
  proven: update.proven ?? attempt.proven,
  failure: update.failure ?? attempt.failure,
  tookKey: update.tookKey ?? attempt.tookKey,
  tookPrecondition: update.tookPrecondition ?? attempt.tookPrecondition,
  replayed: update.replayed ?? attempt.replayed,
  // A yes, or a way out that cannot be stopped, is not taken back.
  unvetoable: attempt.unvetoable ?? update.unvetoable,
  unverified: attempt.unverified || update.unverified,
  accepted: attempt.accepted || update.accepted,
  innerOnly: update.innerOnly ?? attempt.innerOnly,
  cleared: update.cleared ?? attempt.cleared,
});

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
  const updateOf = (attempt: AttemptNote) => updates.find(({ n }) => n === attempt.n);
  const wasFired = (attempt: AttemptNote) => !updateOf(attempt)?.neverFired;
  const kept = record.attempts.every(wasFired) ? record.attempts : record.attempts.filter(wasFired);
  const attempts = kept.map((attempt) => {
    const update = updateOf(attempt);
    return update ? merge(attempt, update) : attempt;
  });
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
