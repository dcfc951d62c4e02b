/**
 * Every way in which an operation's record may change. Data only; `apply.ts` judges them.
 *
 * @module
 */

import type { Payload } from "./codec.ts";
import type { Ask, Declared, Ending, Evidence, Identity, Licence, State } from "./record.ts";

/** What is known of operations that a store may have lost. */
export interface Lost {
  /** None of them was sent before this time. */
  readonly since: number;
  /** Their owners may be alive, and believe in leases of this length, in milliseconds. */
  readonly leaseMs: number;
  readonly declared?: Declared | undefined;
}

/** What a first claim, or a first question, writes down. */
export interface Draft {
  readonly identity: Identity;
  readonly argsHash: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly intent: Payload;
  readonly precondition?: Payload | undefined;
  readonly aliases: readonly string[];
}

export type Move =
  /** Take the operation: to fire it, if it is new or certainly not applied; else to read. */
  | {
      readonly move: "claim";
      readonly draft: Draft;
      /** Random, one per claim: a claim whose reply was lost is recognised and withdrawn by it. */
      readonly holder: string;
      readonly leaseMs: number;
      readonly declared?: Declared | undefined;
      readonly cooldownMs: number;
      /** The caller asked for another try of something that was rejected. */
      readonly retry: boolean;
      /** An open operation of this tool could not be helped: leave it as it is. */
      readonly powerless: boolean;
      /** It may be fired only on a person's yes. */
      readonly needsYes?: boolean | undefined;
      /** The store has lost data: that there is no record does not say that nothing was sent. */
      readonly suspect?: Lost | undefined;
      /** The digest of the approval to spend. */
      readonly spend?: string | undefined;
      readonly at: number;
    }
  /** About to fire again. Refused once somebody knows of a commit. */
  | {
      readonly move: "note";
      readonly epoch: number;
      readonly licence: Licence;
      readonly endings: readonly Ending[];
      readonly declared?: Declared | undefined;
      readonly leaseMs: number;
      readonly at: number;
    }
  | { readonly move: "renew"; readonly epoch: number; readonly leaseMs: number }
  | {
      readonly move: "settle";
      readonly epoch: number;
      readonly state: Extract<State, { tag: "committed" | "not_applied" | "unknown" }>;
      readonly endings: readonly Ending[];
      /** As in `file`. Left out: only two effect ids that differ are two effects. */
      readonly dedupes?: boolean | undefined;
      readonly at: number;
    }
  /** A reply that decides nothing any more, kept as evidence; a commit still corrects the record. */
  | {
      readonly move: "file";
      readonly evidence: Evidence;
      /** What else was learned of the attempt. @default that it has ended so */
      readonly ending?: Ending | undefined;
      /** The service dedupes by key or precondition: two yeses may be one effect. */
      readonly dedupes: boolean;
      readonly at: number;
    }
  /** Nothing was sent after all. */
  | { readonly move: "withdraw"; readonly holder: string; readonly at: number }
  /** Ask a person first. */
  | {
      readonly move: "hold";
      readonly draft: Draft;
      readonly ask: Ask;
      readonly suspect?: Lost | undefined;
      readonly at: number;
    }
  | {
      readonly move: "answer";
      readonly digest: string;
      readonly approve: boolean;
      readonly by: string;
      readonly note?: string | undefined;
      readonly at: number;
    }
  /** A person settles what nobody can read. */
  | {
      readonly move: "resolve";
      readonly as: "committed" | "not_applied";
      readonly by: string;
      /** The state the person saw, by the time it was reached; refused when it is another by now. */
      readonly asOf?: number | undefined;
      readonly note?: string | undefined;
      readonly at: number;
    }
  /** An attempt that was given up still runs, in a process that lives: it has not ended yet. */
  | {
      readonly move: "running";
      readonly attempt: number;
      readonly leaseMs: number;
      readonly at: number;
    }
  /** The operation was met again, under another tool-call id or in another run. */
  | {
      readonly move: "meet";
      readonly aliases: readonly string[];
      readonly run?: string | undefined;
    };

/** Why a move was not made. */
export type Refusal =
  | "absent" // there is no such operation
  | "busy" // somebody owns it now
  | "settled" // its outcome is known
  | "held" // a person has not said yes
  | "denied"
  | "conflict" // same key, other intent
  | "powerless" // unknown, and this tool cannot find out
  | "stale" // the epoch is old
  | "evidence" // somebody knows of a commit
  | "changed" // what the move rests on is no longer so
  | "not_open" // there is nothing to answer, withdraw or resolve
  | "mismatch" // the answer is to another question
  | "expired";
