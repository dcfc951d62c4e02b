/**
 * The type of what became of a call: a union on `status`. All callers of one execution get the same, but for `replayed`,
 * `effect`, `reworded` and their copy of the result; of a body that is read as it comes only one of them has the result, and
 * the others have `resultLost`. One that leaves early gets `in_progress`. How an outcome is made, from a record or from an
 * attempt, and the error that stands for it, are in `engine/outcome/`.
 *
 * @module
 */

import type { OperationFacts } from "../../errors.ts";
import type { Rejection, State } from "../../ledger/record.ts";
import type { Effect, Licence, NotAppliedReason, UnknownReason } from "../../reasons.ts";

type Via = Extract<State, { tag: "committed" }>["via"];

/** What is told with every outcome. */
export interface Common extends OperationFacts {
  /** This call did not fire it: the outcome was known, or the call joined an execution under way. */
  readonly replayed: boolean;
  /**
   * Whether the ledger has it. `false`: the store was down, and the settle is retried; or a ledger that may forget could not be
   * checked before anything was sent, and the same call reads again.
   */
  readonly recorded: boolean;
  /** Arguments outside the intent that differ from those of the first attempt. */
  readonly reworded?: readonly string[] | undefined;
  /** How many attempts were noted in all: as many as were fired, unless a process died between the note and the send. */
  readonly attempts: number;
  /** Physical requests of the attempts made by this call. */
  readonly wireRequests?: number | undefined;
  /** What allowed the last attempt. */
  readonly licence?: Licence | undefined;
  /** When this state was reached, in milliseconds on the ledger's clock. */
  readonly at: number;
}

export type Outcome<R> =
  | (Common & {
      readonly status: "committed";
      readonly result: R;
      /** How it became known; of a commit that was known before, `undefined`. */
      readonly via?: Via | undefined;
      /** What changed in the world; `"noop"` for a replay. */
      readonly effect?: Effect | undefined;
      readonly effectId?: string | undefined;
      readonly resultLost?: false | undefined;
    })
  | (Common & {
      readonly status: "committed";
      readonly result?: undefined;
      readonly via?: Via | undefined;
      readonly effect?: Effect | undefined;
      readonly effectId?: string | undefined;
      /** It is committed, and its result was not kept. */
      readonly resultLost: true;
    })
  | (Common & {
      readonly status: "not_applied";
      readonly reason: NotAppliedReason;
      readonly rejection?: Rejection | undefined;
      /** What is known of it, in a sentence. */
      readonly because?: string | undefined;
      /** What the attempt threw: its class and first line. It stays in the record. */
      readonly threw?: string | undefined;
      /** The status that the service answered last, if it answered. */
      readonly answered?: number | undefined;
      /** Where the same call is answered from the record: what lets it be made again, for a developer. */
      readonly hint?: string | undefined;
      /** What the last attempt of this call threw. */
      readonly error?: unknown;
    })
  | (Common & {
      readonly status: "unknown";
      readonly reason: UnknownReason;
      /** What is known of it, in a sentence. */
      readonly because?: string | undefined;
      /** What the attempt threw: its class and first line. It stays in the record. */
      readonly threw?: string | undefined;
      /** The status that the service answered last, if it answered. */
      readonly answered?: number | undefined;
      /** What would let holdfire decide next time. */
      readonly hint?: string | undefined;
      readonly error?: unknown;
    })
  | (Common & {
      readonly status: "in_progress";
      /** `still_running`: the deadline came before the tool's own `run` had ended. */
      readonly reason?: "still_running" | undefined;
    })
  | (Common & {
      readonly status: "held";
      readonly reason: "approval" | "drift" | "lane";
      /** For a lane: the resource, and the operation in the way. */
      readonly resource?: string | undefined;
      readonly blockedBy?: string | undefined;
    })
  | (Common & { readonly status: "denied"; readonly by: string })
  | (Common & {
      readonly status: "conflict";
      /** Its key was used for another intent, or this process called it by another tool of the same name. */
      readonly reason: "other_intent" | "other_tool";
    });

export type OutcomeStatus = Outcome<unknown>["status"];
