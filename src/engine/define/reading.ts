/**
 * What a look at the state can say: the five answers of a `readState` function.
 *
 * @module
 */

import type { Json } from "../../key/json.ts";
import { peek, peekItems } from "../../lang/peek.ts";

/** What `readState` returns; make it with the functions below. */
export type Reading<R> =
  | { readonly reading: "committed"; readonly result: R; readonly effectId?: string | undefined }
  | { readonly reading: "absent" }
  | { readonly reading: "in_progress" }
  | { readonly reading: "duplicated"; readonly results: readonly R[] }
  | {
      readonly reading: "cannot_tell";
      readonly why: string;
      /** The reader itself broke down: it threw, hung or returned nonsense. Set by holdfire. */
      readonly failed?: true | undefined;
      /** What stands in the way passes: read again, it may tell. Set by holdfire. */
      readonly again?: true | undefined;
    };

/** What `readState` is asked with. Never the caller's arguments: it must work in any process. */
export interface StateQuery<I = Json> {
  readonly intent: I;
  /** The key of the latest generation. */
  readonly key: string;
  /** All keys this operation was ever sent under. */
  readonly keys: readonly string[];
  /** When the first attempt may have been sent, in milliseconds on the ledger's clock. */
  readonly firstSentAt: number;
  /** Whether another operation already has this effect: found is not mine. */
  readonly taken: (effectId: string) => Promise<boolean>;
  readonly signal: AbortSignal;
  /** A `fetch` that belongs to this read. */
  readonly fetch: typeof globalThis.fetch;
}

/**
 * It happened, once. `effectId` is the service's own id of the effect: it belongs to one operation,
 * and a reading that names one held by another operation proves nothing.
 */
export const committed = <R>(
  result: R,
  about: { readonly effectId?: string | undefined } = {},
): Reading<R> => ({ reading: "committed", result, effectId: about.effectId });

/** It is not there. Proof only once the service can no longer commit: see `commitsWithinMs`. */
export const absent = (): Reading<never> => ({ reading: "absent" });

/** The service is at it. */
export const inProgress = (): Reading<never> => ({ reading: "in_progress" });

/** It happened more than once. */
export const duplicated = <R>(results: readonly R[]): Reading<R> => ({
  reading: "duplicated",
  results,
});

/** The state could not be read, or does not say. */
export const cannotTell = (why: string): Reading<never> => ({ reading: "cannot_tell", why });

/** What the reader did instead of answering. */
export const brokenReader = (
  why: "failed" | "late" | "nonsense" | "unanswered",
): Reading<never> => ({
  reading: "cannot_tell",
  why,
  failed: true,
});

/** What was found may be another operation's, or has just become so. */
export const cannotTellYet = (why: string): Reading<never> => ({
  reading: "cannot_tell",
  why,
  again: true,
});

const MAX_RESULTS = 100;

/** A reader's answer, copied once, or *cannot tell* where it is nonsense. Never throws. */
export function checkReading(answer: unknown): Reading<unknown> {
  const reading = peek(answer, "reading");
  const effectId = peek(answer, "effectId");
  if (effectId !== undefined && (typeof effectId !== "string" || effectId.length > 512)) {
    return brokenReader("nonsense");
  }
  switch (reading) {
    case "committed":
      return { reading, result: peek(answer, "result"), effectId };
    case "absent":
    case "in_progress":
      return { reading };
    case "duplicated": {
      const results = peekItems(peek(answer, "results"), MAX_RESULTS);
      return results.length > 0 ? { reading, results } : brokenReader("nonsense");
    }
    case "cannot_tell":
      return cannotTell(whyOf(peek(answer, "why")));
    default:
      return brokenReader("nonsense");
  }
}

const whyOf = (why: unknown): string =>
  typeof why === "string" ? why.slice(0, 200) : "no reason given";
