/**
 * What the ledger stores about one operation: its states, each with only its own fields.
 *
 * Times are milliseconds on the store's clock, never on a caller's. The legal moves between the states are in `moves/apply.ts`.
 *
 * @module
 */

import type { Effect, Licence, NotAppliedReason, UnknownReason, Verdict } from "../reasons.ts";
import type { Payload } from "./codec/codec.ts";
import type { Answer, Denied, Held } from "./moves/approval-question.ts";

export type { Answer, Ask } from "./moves/approval-question.ts";

/** The status and code of a rejection, without the service's message. */
export interface Rejection {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
}

export type State =
  | Held<State>
  /** A process owns it: it may have been sent. `before` is the state to which a withdrawal returns. */
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
      /** The result of a success that `verify` did not confirm. */
      readonly payload?: Payload | undefined;
    }
  | {
      readonly tag: "committed";
      readonly effect?: Effect | undefined;
      readonly via: "reply" | "read" | "late" | "person";
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
      /** A keyed service stored this rejection: the next claim needs the next generation of the key. */
      readonly keyRejected?: boolean | undefined;
      readonly by?: string | undefined;
      readonly note?: string | undefined;
    }
  | Denied;

export type StateTag = State["tag"];

/** How the service recognises a repeated request, as the tool declares. */
export interface Declared {
  readonly keyed?: boolean | undefined;
  readonly conditional?: boolean | undefined;
  /** The effect and its record commit in one transaction: no record, no effect. */
  readonly enlisted?: boolean | undefined;
}

/** What an attempt failed with. */
export interface FailureNote {
  /** The class of what `run` threw. */
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** The texts, as far as they may be kept: an `ErrorText`. */
  readonly text?: Payload | undefined;
  /** The tool itself said that nothing happened. */
  readonly byTool?: true | undefined;
  /** It was thrown in place of an answer that proves nothing. */
  readonly answered?: true | undefined;
  /** The connection broke, or the wait was given up. */
  readonly broke?: true | undefined;
  /** It was thrown after the call was sent, by a way on which no request is seen. */
  readonly handed?: true | undefined;
}

/** What is known about one attempt. */
export interface AttemptNote {
  readonly n: number;
  readonly epoch: number;
  /** Which key it carried: a key that a keyed service rejected is followed by the next generation. */
  readonly generation: number;
  readonly licence: Licence;
  /** When it was noted, before the first byte was sent. */
  readonly at: number;
  /**
   * How far the wall clock of its host was ahead of the store's when it was noted, in milliseconds: a
   * second clock to count from `at` and `endsBy`.
   */
  readonly skew?: number | undefined;
  /** When it ended: `run` had settled, and each write was answered or torn down. Later than now where a write left late. */
  readonly endedAt?: number | undefined;
  /**
   * The latest time at which it may still send, noted before it is fired; whoever lets it go on longer
   * notes a new one first. An attempt without `endedAt` counts as ended from then on.
   */
  readonly endsBy?: number | undefined;
  readonly verdict?: Verdict | undefined;
  /** Of `not_sent`: the tool itself said so, or all that it does was seen. Unset: it may have done what was not seen. */
  readonly proven?: boolean | undefined;
  /** The status of the service's answer, if it gave one. */
  readonly status?: number | undefined;
  /** What it failed with. */
  readonly failure?: FailureNote | undefined;
  /** What the tool declared when it was fired; a later declaration does not apply to it. */
  readonly declared?: Declared | undefined;
  /** Whether `run` read the key from its context. */
  readonly tookKey?: boolean | undefined;
  /** Whether `run` read the precondition. */
  readonly tookPrecondition?: boolean | undefined;
  /** The service replayed a stored answer for this key. */
  readonly replayed?: boolean | undefined;
  readonly wireRequests?: number | undefined;
  /** The service reported success and `verify` did not confirm it: only a person may let it fire again. */
  readonly unverified?: boolean | undefined;
  /** The service answered "accepted" (202): a success that only a later read can confirm. */
  readonly accepted?: boolean | undefined;
  /** It opened a socket, or started a process or a thread: nothing stops what leaves there when its time is over. */
  readonly unvetoable?: boolean | undefined;
  /** All that it did was done by guarded operations inside it; `false`: by these, and by what was or may have been beside them. */
  readonly innerOnly?: boolean | undefined;
  /** Proved not applied by a read (`absent`) or by a person (`person`). */
  readonly cleared?: "absent" | "person" | undefined;
}

/** What becomes known about an attempt after it was noted, also while it still runs. */
export type AttemptUpdate = Pick<AttemptNote, "n"> &
  Partial<Omit<AttemptNote, "n" | "epoch" | "generation" | "licence" | "at" | "skew">> & {
    /** It was noted and never fired: remove it. */
    readonly neverFired?: true | undefined;
  };

/** A reply that came too late to decide, or came to an owner that had lost the operation. */
export interface Evidence {
  /** `0` stands for one of an earlier record of this operation, which the store has lost. */
  readonly attempt: number;
  readonly epoch: number;
  readonly at: number;
  readonly verdict: Verdict;
  /** A read found it, and it may be the effect of another attempt. */
  readonly found?: true | undefined;
  readonly effect?: Effect | undefined;
  readonly effectId?: string | undefined;
  readonly status?: number | undefined;
  readonly payload?: Payload | undefined;
}

/** What identifies an operation and never changes; given by its first claim. */
export interface Identity {
  readonly tenant: string;
  readonly id: string;
  readonly tool: string;
  readonly service: string;
  readonly scope: string;
  readonly fingerprint: string;
  /** The run of the scope that made it, for drift. `undefined`: no drift is judged by it, and no caller has named one. */
  readonly run?: string | undefined;
  readonly again?: string | undefined;
  readonly version?: string | undefined;
  readonly resource?: string | undefined;
  /** The operation inside whose attempt this one was made. */
  readonly parent?: string | undefined;
  /** The step of the model that asked for it; `undefined` where no model did. */
  readonly step?: string | undefined;
}

/** One operation. The store keeps it as a whole, with its version and lease. */
export interface OperationRecord extends Identity {
  /** The program that made it. Its tools alone know where to look for it. */
  readonly app?: string | undefined;
  readonly state: State;
  readonly stateAt: number;
  readonly createdAt: number;
  /** The fencing token: each claim raises it, and a move with an older one is refused. */
  readonly epoch: number;
  readonly generation: number;
  readonly argsHash: string;
  /** A short hash per argument, to name those that changed in a repeated call. */
  readonly fields: Readonly<Record<string, string>>;
  /** The canonical intent, while the operation is open. */
  readonly intent?: Payload | undefined;
  /** What the service compares (ETag, version), fixed by the claim. */
  readonly precondition?: Payload | undefined;
  readonly aliases: readonly string[];
  /** The runs of the scope that made or replayed it. */
  readonly runs: readonly string[];
  readonly attempts: readonly AttemptNote[];
  /** The number of the attempt noted last; a process can die before it fires. `attempts` drops the oldest cleared ones. */
  readonly fired: number;
  readonly evidence: readonly Evidence[];
  /** The answers to questions that are closed. */
  readonly answers?: readonly Answer[] | undefined;
  /** No caller was told of its present state yet. What callers heard last is out of date: as a rule, that it is open. */
  readonly untold?: true | undefined;
  /** A person let this other operation pass in its place, or in spite of it: it is read, and never fired again. */
  readonly abandonedFor?: string | undefined;
}

/** A record as the store keeps it. */
export interface Stored {
  readonly record: OperationRecord;
  /**
   * Raised by every write, and never used twice, not even after a removal: else a swap decided on
   * the old record would succeed on the new one. `0` means that there is no such record.
   */
  readonly version: number;
  readonly leaseUntil: number | undefined;
  /** What tells this write from another with its version, which a store that went back gives out anew. See `Change`. */
  readonly stamp?: string | undefined;
}

/** Open operations are never pruned, and their intent is kept. */
export const isOpen = (state: State): boolean =>
  state.tag === "held" || state.tag === "claimed" || state.tag === "unknown";

/** Whether it is proved that the attempt had no effect: not sent, refused, rejected, or cleared since. */
export const isCleared = (attempt: AttemptNote): boolean =>
  attempt.cleared === "person" || (!saidYesUnconfirmed(attempt) && isProvenUndone(attempt));

/** The attempt that the claim noted which has just made this record; `undefined`: it takes over what is open. */
export const notedByClaim = ({ attempts, epoch }: OperationRecord): AttemptNote | undefined => {
  const last = attempts.at(-1);
  return last?.epoch === epoch ? last : undefined;
};

/** Whether it may still send at this time: its end lies ahead where a write of it has left late. */
export const runsAt = ({ endedAt, endsBy = 0 }: AttemptNote, now: number): boolean =>
  (endedAt ?? endsBy) > now;

/** Whether it may be fired again by itself after a `not_sent`: nothing can have happened that was not seen. */
export const isCertainlyUnsent = ({ proven, innerOnly, declared }: AttemptNote): boolean =>
  proven === true || innerOnly === true || declared?.enlisted === true;

/** The service answered 2xx, and it was not verified or is not done yet: only a person can clear it. False for `committed`. */
export const saidYesUnconfirmed = ({ unverified, accepted }: AttemptNote): boolean =>
  unverified === true || accepted === true;

const isProvenUndone = (attempt: AttemptNote): boolean =>
  attempt.cleared !== undefined ||
  attempt.verdict === "not_sent" ||
  attempt.verdict === "refused" ||
  attempt.verdict === "rejected";
