/**
 * Fire again, read again, or settle: what an execution decides after each attempt and each read. Pure. Whether a
 * later call may fire a settled operation again is decided in `ledger/moves/claim-moves.ts`.
 *
 * Doubt is sticky: a licence must hold for every attempt that is not cleared, not only for the last. Else it stays unknown.
 *
 * @module
 */

import { LOST_EPOCH } from "../../../ledger/moves/lost-data.ts";
import {
  type AttemptNote,
  isCertainlyUnsent,
  isCleared,
  saidYesUnconfirmed,
} from "../../../ledger/record.ts";
import type { Licence, NotAppliedReason, UnknownReason } from "../../../reasons.ts";
import type { FireMode } from "../../operation/operation.ts";
import { isAnswered } from "../../outcome/words.ts";
import { type Began, isKeyExpired, proofDue } from "./windows.ts";

/** What the tool and its service are good for, by declaration and by what they have shown. */
export interface Powers {
  /** How long the service remembers a key, in milliseconds. */
  readonly keyedForMs: number | undefined;
  readonly conditional: boolean;
  /** Whether the tool reads what the service compares, or it is in the arguments (a unique name). */
  readonly precondition: "read" | "given";
  readonly reader: boolean;
  readonly commitsWithinMs: number | undefined;
  /** The reader once missed a commit we know of. */
  readonly readerBlind: boolean;
  /** `run` never took the key. */
  readonly keyUnused: boolean;
  readonly attemptTimeoutMs: number;
}

/** What the last read of the state said. */
export interface StateRead extends Began {
  readonly reading: "committed" | "absent" | "in_progress" | "duplicated" | "cannot_tell";
  /** It cannot tell yet: what stands in the way passes. */
  readonly again?: true | undefined;
}

export interface Situation {
  readonly powers: Powers;
  readonly attempts: readonly AttemptNote[];
  readonly epoch: number;
  readonly generation: number;
  readonly lastRead: StateRead | undefined;
  /** The store's clock, no earlier. */
  readonly now: number;
  /** The wall clock. */
  readonly wall: number;
  /** How many more firings this call may make. */
  readonly firesLeft: number;
  /** As in `Owned`. */
  readonly failedUntried: boolean;
  /** The arguments are those of the first attempt. */
  readonly sameArguments: boolean;
  /** An attempt of this call still runs though its time was up, and is waited for: slow is not lost. */
  readonly awaitsRun: boolean;
  /** Why nothing more is fired: no caller waits, the lease, the store or the precondition is gone, or a person gave it up. */
  readonly whyNotFire:
    | "stopped"
    | "lease_lost"
    | "store_down"
    | "cannot_tell"
    | "abandoned"
    | undefined;
  /** The service has answered this key with a stored failure, and would go on doing so. */
  readonly keySpent: boolean;
  readonly fireMode: FireMode;
}

export type Decision =
  | { readonly do: "fire"; readonly licence: Licence; readonly clears: readonly number[] }
  /** Read again: in a while, or when a time on the store's clock has passed. */
  | { readonly do: "read"; readonly notBefore: number | undefined }
  /** Nothing else helps: wait for the attempt that still runs. */
  | { readonly do: "await_run" }
  /** `undefined`: a read found it, and no attempt was answered yes. */
  | { readonly do: "commit"; readonly attempt: number | undefined }
  | {
      readonly do: "not_applied";
      readonly reason: NotAppliedReason;
      readonly clears: readonly number[];
    }
  | { readonly do: "leave_unknown"; readonly reason: UnknownReason };

/** Nothing else counts once an attempt was answered yes; nearly every call ends so. */
export function commitOf(
  attempts: readonly AttemptNote[],
): Extract<Decision, { do: "commit" }> | undefined {
  const yes = attempts.find(({ verdict }) => verdict === "committed");
  return yes && { do: "commit", attempt: yes.n };
}

export function decide(situation: Situation): Decision {
  const { attempts, lastRead, powers } = situation;
  const committed = commitOf(attempts);
  if (committed) return committed;

  const doubtful = attempts.filter((attempt) => !isCleared(attempt));
  if (doubtful.length === 0) return withoutDoubt(situation, []);
  if (lastRead?.reading === "committed" || lastRead?.reading === "duplicated") {
    return { do: "commit", attempt: undefined };
  }
  if (lastRead?.reading === "in_progress") return { do: "read", notBefore: undefined };

  const due = powers.readerBlind ? "never" : proofDue(doubtful, powers.commitsWithinMs, lastRead);
  if (lastRead?.reading === "absent" && typeof due === "number" && lastRead.beganAt > due) {
    if (!doubtful.some(saidYesUnconfirmed)) {
      return withoutDoubt(
        situation,
        doubtful.map(({ n }) => n),
      );
    }
    return { do: "leave_unknown", reason: reasonInDoubt(situation, doubtful) };
  }
  if (mayResendByKey(situation, doubtful)) return { do: "fire", licence: "keyed", clears: [] };
  if (mayResendInner(situation, doubtful)) return { do: "fire", licence: "not_sent", clears: [] };
  if (lastRead?.reading === "absent" && due !== "never") {
    return { do: "read", notBefore: due === "not yet" ? undefined : due };
  }
  if (lastRead?.again) return { do: "read", notBefore: undefined };
  if (situation.awaitsRun) return { do: "await_run" };
  return { do: "leave_unknown", reason: reasonInDoubt(situation, doubtful) };
}

const AGAIN = ["not_sent", "refused", "absent"] as const;

/** Every attempt certainly did nothing: fire again if that is allowed, else say so. */
function withoutDoubt(situation: Situation, clears: readonly number[]): Decision {
  const last = situation.attempts.at(-1);
  const reason = reasonNotApplied(last, clears);
  const licence = AGAIN.find((each) => each === reason);
  // What failed inside, or before any request was made, would fail again at once.
  const wouldFailAgain =
    situation.failedUntried || (last?.innerOnly && last.epoch === situation.epoch);
  const mayFire =
    licence !== undefined &&
    !(licence === "not_sent" && last && !isCertainlyUnsent(last)) &&
    !wouldFailAgain &&
    situation.firesLeft > 0 &&
    situation.sameArguments &&
    !situation.whyNotFire &&
    firesFreely(situation);
  return mayFire ? { do: "fire", licence, clears } : { do: "not_applied", reason, clears };
}

const firesFreely = ({ fireMode }: Situation): boolean => fireMode === "freely";

/** Why it certainly did not happen, where no attempt is in doubt. */
export function reasonNotApplied(
  last: AttemptNote | undefined,
  clears: readonly number[],
): NotAppliedReason {
  if (!last) return "not_sent";
  if (last.verdict === "rejected") return "rejected";
  if (last.cleared === "person") return "resolved";
  if (last.cleared === "absent" || clears.includes(last.n)) return "absent";
  return last.verdict === "refused" ? "refused" : "not_sent";
}

/** The licence `keyed`: the service itself will recognise the repetition, by the key or by the precondition. */
function mayResendByKey(situation: Situation, doubtful: readonly AttemptNote[]): boolean {
  const { powers, attempts, generation, lastRead } = situation;
  if (situation.firesLeft <= 0 || situation.whyNotFire) return false;
  if (!situation.sameArguments || situation.fireMode === "never") return false;
  // After an unconfirmed yes only a person lets it be fired again; after a rejection, only a reader or a person.
  if (doubtful.some(saidYesUnconfirmed)) return false;
  // Part of it happened inside: with requests of its own as well, it does not run again.
  if (doubtful.some(({ innerOnly, wireRequests }) => innerOnly === false && wireRequests !== 0)) {
    return false;
  }
  if (attempts.at(-1)?.verdict === "rejected") return false;
  const ofThisKey = attempts.filter((attempt) => attempt.generation === generation);
  // Absent although the service has answered to this key: it will give the same answer again.
  const hasAnswered = ofThisKey.some(({ status }) => status !== undefined);
  if (lastRead?.reading === "absent" && hasAnswered) return false;
  if (powers.conditional && doubtful.every((attempt) => carriedPrecondition(attempt, powers))) {
    return true;
  }
  return keyIsGood(situation, doubtful);
}

function keyIsGood(situation: Situation, doubtful: readonly AttemptNote[]): boolean {
  const { powers, generation } = situation;
  if (powers.keyedForMs === undefined || powers.keyUnused || situation.keySpent) return false;
  if (!doubtful.every(carriedKey)) return false;
  // A doubt about an earlier key cannot be lifted by this one.
  if (doubtful.some((attempt) => attempt.generation !== generation)) return false;
  return !isKeyOld(situation);
}

/** A key that `run` never took, or that was not declared yet when the attempt was fired, cannot have been sent. */
export const carriedKey = ({ tookKey, declared }: AttemptNote): boolean =>
  declared?.keyed === true && tookKey !== false;

const carriedPrecondition = (
  { tookPrecondition, declared }: AttemptNote,
  { precondition }: Powers,
): boolean =>
  declared?.conditional === true && (precondition !== "read" || tookPrecondition !== false);

/** Whether the keyed licence still holds when the attempt it licensed is about to be sent. */
export const mayStillResend = (situation: Situation): boolean =>
  mayResendByKey(
    situation,
    situation.attempts.filter((attempt) => !isCleared(attempt)),
  );

/** Whether the service may have forgotten the key. The declared time is cut by 5 % and by the timeout of one attempt. */
function isKeyOld({ powers, attempts, generation, now, wall }: Situation): boolean {
  const lastsMs = (powers.keyedForMs ?? 0) * 0.95 - powers.attemptTimeoutMs;
  return isKeyExpired(attempts, { lastsMs, generation }, { now, wall });
}

/** A composite whose every request was an operation of its own: those replay, so it may run again. */
function mayResendInner(situation: Situation, doubtful: readonly AttemptNote[]): boolean {
  if (situation.firesLeft <= 0 || situation.whyNotFire || !situation.sameArguments) return false;
  if (doubtful.some(saidYesUnconfirmed) || !firesFreely(situation)) return false;
  return doubtful.every(({ innerOnly, epoch }) => innerOnly && epoch !== situation.epoch);
}

function reasonInDoubt(situation: Situation, doubtful: readonly AttemptNote[]): UnknownReason {
  const { powers, lastRead, fireMode } = situation;
  if (doubtful.some(({ unverified }) => unverified)) return "unverified";
  if (doubtful.some(({ accepted }) => accepted)) return "in_progress";
  if (doubtful.some(({ innerOnly }) => innerOnly !== undefined)) return "partial";
  if (doubtful.some(({ epoch }) => epoch === LOST_EPOCH)) return "store_lost";
  if (situation.whyNotFire) return situation.whyNotFire;
  if (situation.attempts.at(-1)?.verdict === "rejected") return "rejected_in_doubt";
  const keyed = powers.keyedForMs !== undefined;
  const resends = (keyed || powers.conditional) && fireMode !== "never";
  if (resends && !situation.sameArguments) return "reworded";
  if (keyed && powers.keyUnused) return "key_unused";
  if (keyed && situation.keySpent) return "key_spent";
  if (keyed && isKeyOld(situation)) return "key_expired";
  if (resends && situation.firesLeft <= 0) return "attempts";
  if (lastRead?.reading === "absent")
    return powers.readerBlind ? "reader_blind" : "absent_unproven";
  if (powers.reader) return "cannot_tell";
  if (fireMode === "never" && doubtful.some(({ verdict }) => !verdict)) return "owner_lost";
  if (doubtful.every(isAnswered)) return "unclear_answer";
  if (doubtful.some(({ failure }) => failure?.handed)) return "lost_reply";
  const isFailure = doubtful.every((each) => each.failure?.type && each.wireRequests === 0);
  return isFailure ? "run_failed" : "lost_reply";
}
