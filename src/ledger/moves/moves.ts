/**
 * Every way in which an operation's record may change, as data, and what a move leads to. `apply.ts` decides
 * whether a move is legal.
 *
 * @module
 */

import type { Licence } from "../../reasons.ts";
import type { Payload } from "../codec/codec.ts";
import type {
  Ask,
  AttemptNote,
  AttemptUpdate,
  Declared,
  Evidence,
  Identity,
  OperationRecord,
  State,
  StateTag,
  Stored,
} from "../record.ts";
import type { LeaseChange } from "../store.ts";

/** What is known about operations that a store may have lost. */
export type Lost =
  | {
      /** None of them was sent before this time. */
      readonly since: number;
      /** Their owners may still run, and send for so long, in milliseconds. */
      readonly sendsForMs: number;
      readonly declared?: Declared | undefined;
    }
  /** The record as its owner knows it: it is written down anew. */
  | { readonly known: OperationRecord };

/** What is noted of an attempt before it is fired. */
export interface NewAttempt {
  readonly at: number;
  readonly skew?: number | undefined;
  readonly endsBy?: number | undefined;
  readonly declared?: Declared | undefined;
}

/** What a first claim, or a first question, writes. */
export interface Draft {
  readonly identity: Identity;
  readonly argsHash: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly intent: Payload;
  readonly precondition?: Payload | undefined;
  readonly aliases: readonly string[];
}

/** Which claim it is made under. Epochs begin anew where a record was lost; holders do not. */
export interface Ownership {
  readonly epoch: number;
  readonly holder: string;
}

export type Move =
  /** Takes the operation, to fire it or to read its state: which, and when it is refused, is told in `claim-moves.ts`. */
  | (NewAttempt & {
      readonly move: "claim";
      readonly draft: Draft;
      /** Random, one per claim: it identifies a claim whose reply was lost, and withdraws it. */
      readonly holder: string;
      readonly leaseMs: number;
      readonly cooldownMs: number;
      /** The caller asked to try again what was not applied. */
      readonly retry: boolean;
      /** The tool can neither read nor resend, so an open operation is left as it is. */
      readonly powerless: boolean;
      /** It may be fired only after a person's yes. */
      readonly needsYes?: boolean | undefined;
      /** The store has lost data: a missing record does not prove that nothing was sent. */
      readonly suspect?: Lost | undefined;
      /** The digest of the approval to spend. */
      readonly spend?: string | undefined;
    })
  /** Notes that the tool is about to be fired again. Refused once there is evidence of a commit, or a yes that was not verified. */
  | (NewAttempt &
      Ownership & {
        readonly move: "note";
        readonly licence: Licence;
        readonly updates: readonly AttemptUpdate[];
        readonly leaseMs: number;
      })
  | (Ownership & { readonly move: "renew"; readonly leaseMs: number })
  | (Ownership & {
      readonly move: "settle";
      readonly state: Extract<State, { tag: "committed" | "not_applied" | "unknown" }>;
      readonly updates: readonly AttemptUpdate[];
      /** As in `file`. Left out: only two different effect ids count as two effects. */
      readonly dedupes?: boolean | undefined;
      /** Whether a caller is told of this state. @default true */
      readonly told?: boolean | undefined;
      readonly at: number;
    })
  /** Files a reply that came too late to decide, as evidence. A commit still corrects the record. */
  | {
      readonly move: "file";
      readonly evidence: Evidence;
      /**
       * When the record was made in which the attempt was noted. A record that was lost and made anew has other attempts,
       * with the same numbers. @default this record
       */
      readonly madeAt?: number | undefined;
      /** What else is known about the attempt. @default that it ended with this verdict */
      readonly update?: AttemptUpdate | undefined;
      /** The attempt as its owner knows it: a record that was lost and made anew does not have it. */
      readonly note?: AttemptNote | undefined;
      /** The service dedupes by key or precondition: two successes may be one effect. */
      readonly dedupes: boolean;
      /** What was wanted. Refused if the record is of something else by now. */
      readonly fingerprint?: string | undefined;
      readonly at: number;
    }
  /** Takes a claim back: nothing was sent. */
  | { readonly move: "withdraw"; readonly holder: string; readonly at: number }
  /** Asks a person first. */
  | {
      readonly move: "hold";
      readonly draft: Draft;
      readonly ask: Ask;
      readonly suspect?: Lost | undefined;
      readonly skew?: number | undefined;
      readonly at: number;
    }
  | {
      readonly move: "answer";
      readonly digest: string;
      readonly approve: boolean;
      readonly by: string;
      readonly note?: string | undefined;
      readonly skew?: number | undefined;
      readonly at: number;
    }
  /** A person settles an operation that cannot be read. */
  | {
      readonly move: "resolve";
      readonly as: "committed" | "not_applied";
      readonly by: string;
      /**
       * The time at which the state that the person saw was reached. Refused if the state has
       * changed since.
       */
      readonly asOf?: number | undefined;
      /** `not_applied` is taken although an attempt may still send. */
      readonly anyway?: boolean | undefined;
      readonly note?: string | undefined;
      readonly at: number;
    }
  // Made by `noteLonger` of `engine/steps/parts/still-running.ts`.
  /** An attempt goes on for longer than was noted. Refused once it is certain that it did nothing. */
  | {
      readonly move: "running";
      readonly attempt: number;
      readonly endsBy: number;
      /** The epoch of the owner that noted it. */
      readonly epoch?: number | undefined;
      /** As in `file`. */
      readonly madeAt?: number | undefined;
      /** As in `file`. */
      readonly fingerprint?: string | undefined;
    }
  // Made by `doubtLate` of `engine/steps/parts/late.ts`.
  /** A write left after the end of its attempt, which therefore ends by `endsBy` only: it proves nothing any more. */
  | {
      readonly move: "doubt";
      readonly attempt: number;
      readonly why: "late_send";
      readonly endsBy: number;
      readonly at: number;
    }
  // Made by `noteUnvetoable` of `engine/steps/parts/late.ts`.
  /** An attempt has a way out that cannot be stopped. */
  | { readonly move: "doubt"; readonly attempt: number; readonly why: "unvetoable" }
  // Made by `noteRepeat` of `engine/steps/parts/note-repeat.ts`; and by `statusReply` of `engine/admin/status.ts`, for a model that asks.
  /** The operation was called again, under another tool-call id or in another run. */
  | {
      readonly move: "meet";
      /** The state that its caller is told. It may have changed since, and of that none was told. */
      readonly told: StateTag;
      readonly aliases: readonly string[];
      readonly run?: string | undefined;
    }
  /** A person lets the operation `instead` pass in its place: it is never fired again. */
  | {
      readonly move: "abandon";
      readonly instead: string;
      /** The person was shown that it is done. */
      readonly shownDone?: boolean | undefined;
      readonly at: number;
    }
  // Made by `forget` of `gateway/guard/tracked-calls.ts`.
  /** Its caller has the service's own words for how it failed, and it may have been a read: it leaves no record. */
  | { readonly move: "forget" };

/** Why a move was refused. */
export type Refusal =
  | "absent" // there is no such operation
  | "busy" // another process owns it
  | "settled" // its outcome is already known
  | "held" // no person has said yes
  | "denied"
  | "conflict" // same key, other intent
  | "powerless" // unknown, and this tool can neither read nor resend
  | "stale" // a newer owner has taken it over
  | "evidence" // there is evidence of a commit; of a note: or a yes that was not verified
  | "changed" // the record has changed since the decision
  | "running" // an attempt of it may still send
  | "abandoned" // a person let another operation pass in its place
  | "not_open" // it has no question or claim that this move could end
  | "mismatch" // the answer belongs to another question
  | "expired";

export type Applied =
  | {
      readonly tag: "write";
      /** `undefined` removes the record. */
      readonly record: OperationRecord | undefined;
      readonly lease: LeaseChange;
      readonly report?: "duplicate" | "corrected" | undefined;
    }
  /** The move is legal, and the record already says so. */
  | { readonly tag: "same" }
  | { readonly tag: "refused"; readonly why: Refusal };

export const refused = (why: Refusal): Applied => ({ tag: "refused", why });

export const write = (record: OperationRecord, lease: LeaseChange): Applied => ({
  tag: "write",
  record,
  lease,
});

export const hasLapsed = ({ leaseUntil }: Stored, now: number): boolean =>
  leaseUntil === undefined || now >= leaseUntil;

/** The record was lost, and a caller has given its key to something else since. */
export const isOtherIntent = (
  record: OperationRecord,
  { fingerprint = record.fingerprint }: { readonly fingerprint?: string | undefined },
): boolean => fingerprint !== record.fingerprint;
