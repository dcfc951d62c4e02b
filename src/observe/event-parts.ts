/**
 * What events are made of: what they are about, and the kinds of `store` and `warning`.
 *
 * @module
 */

import type { OperationFacts } from "../errors.ts";
import type { Verdict } from "../reasons.ts";

export interface OfOperation extends OperationFacts {
  readonly tenant: string;
  readonly scope: string;
}

export interface OfAttempt extends OfOperation {
  readonly attempt: number;
}

/** How an attempt ended, as far as it is known. */
export interface EndedAttempt extends OfAttempt {
  readonly verdict: Verdict;
  readonly status?: number | undefined;
  readonly wireRequests: number;
  readonly durationMs: number;
  /** What `run` threw. It may contain anything, so it is not enumerable. */
  readonly error?: unknown;
}

export interface OfSample {
  readonly client: string;
  readonly step: string;
}

/** What is asked of which model, in the words of OpenTelemetry's conventions for GenAI. */
export interface OfModel extends OfSample {
  /** `chat`, `embeddings`, `text_completion`, `generate_content`. */
  readonly operation: string;
  /** `openai`, `anthropic`, `aws.bedrock`, …, as far as the client tells. */
  readonly provider: string;
  /** The model that was asked for. */
  readonly model?: string | undefined;
}

export type StoreEvent =
  /** It failed (`error`, which is not enumerable), or did not answer in time (no `error`). */
  | { readonly status: "error"; readonly step: string; readonly error?: unknown }
  /** It lost data: a missing record no longer proves anything. */
  | { readonly status: "suspect"; readonly why: string }
  /** A record is damaged: lists leave it out, and a call of its operation fails before anything is sent. */
  | { readonly status: "unreadable"; readonly tenant: string; readonly id: string }
  /** An outcome could not be written yet; holdfire retries while the process runs. */
  | (OfOperation & { readonly status: "unrecorded" })
  /** An outcome that could not be written before is written now. */
  | (OfOperation & { readonly status: "recorded" });

// A new one also goes into `log.ts` and the table of warnings in `docs/events.md`; then run `npm run reference`.
export type Warning =
  /** One attempt sent the same request more than once, or tried to. */
  | (OfAttempt & {
      readonly code: "hidden_retry";
      readonly origin: string;
      readonly method: string;
      readonly path: string;
      /** How often it was sent. */
      readonly count: number;
      /** How often `guardedFetch` kept it from being sent again. */
      readonly refused?: number | undefined;
    })
  /** A keyed write by a holdfire without `app`: another program may mint the same key. Raised once. */
  | (OfOperation & { readonly code: "no_app" })
  /** `run` returned a value although the service did not say yes: check the status in `run`. */
  | (OfAttempt & { readonly code: "swallowed_status"; readonly status?: number | undefined })
  /** A write left after its attempt had ended: await in `run` what `run` starts. */
  | (OfAttempt & { readonly code: "late_send" })
  /** A keyed tool never read the key from its context: it has no licence `keyed`. */
  | (OfOperation & { readonly code: "key_unused" })
  /** A reader did not find a commit that is known: it has no licence `absent`. */
  | (OfOperation & { readonly code: "reader_blind" })
  /** `readState`, `verify`, `precondition` or `plan` threw, hung or returned something invalid. */
  | (OfOperation & {
      readonly code: "reader_failed";
      readonly which: "readState" | "verify" | "precondition" | "plan";
      readonly why: string;
    })
  /** Two operations in one scope differ only in a uuid or a timestamp. */
  | (OfOperation & { readonly code: "volatile_intent"; readonly other: string })
  /** `other`, by the same tool in the same scope or thread, was left open before this call, which was let pass. */
  | (OfOperation & { readonly code: "sibling_unknown"; readonly other: string })
  /** The service answered this operation with an effect that the reader of `other` had found and taken for its own. */
  | (OfOperation & {
      readonly code: "effect_mistaken";
      readonly effectId: string;
      readonly other: string;
    })
  /** A result could not be stored; it is committed without its payload. */
  | (OfOperation & { readonly code: "payload_lost"; readonly why: string })
  /** The ledger had no record of the operation, and its effect was found: the store may have forgotten it. */
  | (OfOperation & { readonly code: "store_forgot" })
  /** Another process took the operation over, or might have by now: its lease has expired. */
  | (OfOperation & { readonly code: "lease_lost" })
  /** A recorded step that the caller named was called with another prompt, so the model was asked again. */
  | (OfSample & { readonly code: "prompt_drift"; readonly scope: string });
