/**
 * What the ledger remembers of one operation: its states, each with only its own fields.
 *
 * Times are milliseconds on the store's clock, never on a caller's. The legal moves between the
 * states are in `apply.ts`.
 *
 * @module
 */

import type { Answer, Denied, Held } from "./approval-question.ts";
import type { Payload } from "./codec.ts";

export type { Answer, Ask } from "./approval-question.ts";

/** What one attempt proved. */
export type Verdict = "committed" | "not_sent" | "refused" | "rejected" | "unknown";

/** What allowed a write to be fired again. `first` needs no licence. */
export type Licence = "first" | "not_sent" | "refused" | "absent" | "keyed" | "person";

/** What changed in the world. */
export type Effect = "created" | "updated" | "deleted" | "noop";

/** Why nothing more can be said. */
export type UnknownReason =
  | "lost_reply" // no reader, no key
  | "absent_unproven" // a read found nothing, and no `commitsWithinMs` says when that is proof
  | "cannot_tell"
  | "in_progress"
  | "deadline"
  | "attempts"
  | "budget"
  | "key_expired"
  | "key_spent"
  | "key_unused"
  | "reader_blind"
  | "rejected_in_doubt" // the last answer was a no, an earlier attempt may have been a yes
  | "unverified"
  | "partial"
  | "reworded" // still open, and the arguments are not those of the first attempt
  | "stopped"
  | "lease_lost"
  | "owner_lost"
  | "store_down"
  | "store_lost";

/** Why it is certain that nothing happened. */
export type NotAppliedReason =
  | "rejected"
  | "not_sent"
  | "refused"
  | "absent"
  | "resolved"
  | "aborted"
  | "expired";

/** The bare facts of a rejection: what a service said, without its prose. */
export interface Rejection {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
}

export type State =
  | Held<State>
  /** Waits for its lane; proves that nothing was sent. */
  | { readonly tag: "queued" }
  /** Somebody owns it: it may have been sent. `before` is where a withdrawal leads back to. */
  | {
      readonly tag: "claimed";
      readonly holder: string;
      readonly before?: State | undefined;
      /** When `before` was reached. */
      readonly beforeAt?: number | undefined;
    }
  | {
      readonly tag: "unknown";
      readonly reason: UnknownReason;
      /** The result of a success that could not be verified. */
      readonly payload?: Payload | undefined;
    }
  | {
      readonly tag: "committed";
      readonly effect?: Effect | undefined;
      readonly via: "reply" | "reading" | "late" | "person";
      readonly attempt?: number | undefined;
      readonly payload?: Payload | undefined;
      readonly effectId?: string | undefined;
      readonly by?: string | undefined;
      readonly note?: string | undefined;
    }
  | {
      readonly tag: "not_applied";
      readonly reason: NotAppliedReason;
      readonly rejection?: Rejection | undefined;
      /** A keyed service stored this no: the next claim needs the next generation of the key. */
      readonly keyRejected?: boolean | undefined;
      readonly by?: string | undefined;
      readonly note?: string | undefined;
    }
  | Denied;

export type StateTag = State["tag"];

/** By what the service recognises a repetition, as the tool says. */
export interface Declared {
  readonly keyed?: boolean | undefined;
  readonly conditional?: boolean | undefined;
  /** The effect and its record commit in one transaction: without the record there is no effect. */
  readonly enlisted?: boolean | undefined;
}

/** One firing of the tool, as far as it is known. */
export interface AttemptNote {
  readonly n: number;
  readonly epoch: number;
  readonly generation: number;
  readonly licence: Licence;
  /** When it was noted, before the first byte. */
  readonly at: number;
  /** When its `run` promise settled. */
  readonly endedAt?: number | undefined;
  /** When it must have ended at the latest: its owner's lease ran out. */
  readonly endsBy?: number | undefined;
  readonly verdict?: Verdict | undefined;
  /** The status of the service's answer, if it gave one. */
  readonly status?: number | undefined;
  /** What the tool declared when it was fired: a promise made later does not cover it. */
  readonly declared?: Declared | undefined;
  /** Whether `run` took the key from its context. */
  readonly tookKey?: boolean | undefined;
  /** Whether `run` took the precondition. */
  readonly tookPrecondition?: boolean | undefined;
  /** The service gave a stored answer to this key. */
  readonly replayed?: boolean | undefined;
  readonly wireRequests?: number | undefined;
  /** The service said yes and `verify` said no: nothing but a person may fire again. */
  readonly unverified?: boolean | undefined;
  /** The service said "accepted" (202): a yes, too, that only a reader can complete. */
  readonly accepted?: boolean | undefined;
  /** All its requests were operations of their own. */
  readonly innerOnly?: boolean | undefined;
  /** Cleared by a read in time (absent) or a person (person). */
  readonly cleared?: "absent" | "person" | undefined;
}

/** What is learned of an attempt after it was noted. */
export type Ending = Pick<AttemptNote, "n"> &
  Partial<Omit<AttemptNote, "n" | "epoch" | "generation" | "licence" | "at">> & {
    /** It was noted and never fired: forget it. */
    readonly unfired?: true | undefined;
  };

/** A reply that came when it could no longer decide, or from an owner who had lost the operation. */
export interface Evidence {
  readonly attempt: number;
  readonly epoch: number;
  readonly at: number;
  readonly verdict: Verdict;
  readonly effect?: Effect | undefined;
  readonly effectId?: string | undefined;
  readonly status?: number | undefined;
  readonly payload?: Payload | undefined;
}

/** What names an operation and never changes; all that a first claim brings along. */
export interface Identity {
  readonly tenant: string;
  readonly id: string;
  readonly tool: string;
  readonly service: string;
  readonly scope: string;
  readonly fingerprint: string;
  readonly run?: string | undefined;
  readonly again?: string | undefined;
  readonly version?: string | undefined;
  readonly resource?: string | undefined;
  /** The operation inside whose attempt this one was made. */
  readonly parent?: string | undefined;
}

/** One operation. The store keeps it whole, beside its version and lease. */
export interface OperationRecord extends Identity {
  readonly state: State;
  readonly stateAt: number;
  readonly createdAt: number;
  /** Fencing: each claim raises it; a move with an older one is refused. */
  readonly epoch: number;
  readonly generation: number;
  readonly argsHash: string;
  /** A short hash per argument, to name those that were reworded. */
  readonly fields: Readonly<Record<string, string>>;
  /** The canonical intent, while the operation is open. */
  readonly intent?: Payload | undefined;
  /** What the service compares (ETag, version), fixed in the claim. */
  readonly precondition?: Payload | undefined;
  readonly aliases: readonly string[];
  /** The runs of the scope that made or replayed it. */
  readonly runs: readonly string[];
  readonly attempts: readonly AttemptNote[];
  /** How often it was fired in all; `attempts` forgets the oldest cleared ones. */
  readonly fired: number;
  readonly evidence: readonly Evidence[];
  /** What people said to questions that are closed by now. */
  readonly answers?: readonly Answer[] | undefined;
}

/** A record as the store holds it. */
export interface Stored {
  readonly record: OperationRecord;
  /**
   * Raised by every write, and never used twice, not even after a removal: else a swap decided on the
   * old record would pass on the new one. `0` stands for "no such record".
   */
  readonly version: number;
  readonly leaseUntil: number | undefined;
}

/** Open operations are never pruned, and their intent is kept. */
export const isOpen = (state: State): boolean =>
  state.tag === "held" ||
  state.tag === "queued" ||
  state.tag === "claimed" ||
  state.tag === "unknown";

/** A doubt is lifted only by proof: nothing was sent, it was refused or rejected, or cleared since. */
export const isCleared = (attempt: AttemptNote): boolean =>
  attempt.cleared === "person" || (!saidYes(attempt) && isProvenUndone(attempt));

/** The service answered 2xx, and it could not be verified or was not done yet: a person's to clear. */
export const saidYes = ({ unverified, accepted }: AttemptNote): boolean =>
  unverified === true || accepted === true;

const isProvenUndone = (attempt: AttemptNote): boolean =>
  attempt.cleared !== undefined ||
  attempt.verdict === "not_sent" ||
  attempt.verdict === "refused" ||
  attempt.verdict === "rejected";

export const hasCommitEvidence = (record: OperationRecord): boolean =>
  record.evidence.some((evidence) => evidence.verdict === "committed");
