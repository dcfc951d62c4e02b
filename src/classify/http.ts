/**
 * What an HTTP status proves about a write. Most prove nothing: the default is `unknown`, and the
 * rules below are the exceptions.
 *
 * @module
 */

import type { Verdict } from "../reasons.ts";

export interface HttpVerdict {
  readonly verdict: Verdict;
  /** Accepted, not done yet: the state is read, and it is not fired again. */
  readonly accepted?: true;
}

/** What must be known about the tool to judge a status. */
export interface StatusContext {
  /** Statuses with which this service says that it did nothing. */
  readonly refuses: readonly number[];
  /** Statuses that are a yes for this tool, e.g. 404 to a delete. @default none */
  readonly accepts?: readonly number[] | undefined;
  /** The service knows our key, so a 422 may be about the key. */
  readonly keyed: boolean;
  /** There is a reader to follow up on a 202. */
  readonly reader: boolean;
  /** The answer names an idempotency error; see `key-error.ts`. @default false */
  readonly keyError?: boolean | undefined;
}

/**
 * The service read the request and did not perform it; 412: a precondition (ETag, version) did not hold. 409 is not one of
 * them: the conflict may be with an earlier request of ours, so it proves nothing.
 */
const REJECTED = new Set([
  400, 401, 402, 403, 404, 405, 410, 412, 413, 414, 415, 422, 428, 431, 451,
]);

/** Whether it is the service's no, wherever nothing else is known of the call. */
export const isClearNo = (status: number): boolean => REJECTED.has(status);

/**
 * Failures that no service stores under a key: with the same key, the next answer may be another one. They decide no
 * verdict, only whether a key is spent (`engine/steps/parts/situation.ts`).
 *
 *   408            the server gave up waiting for the request
 *   409            the first request with the key is still being handled; nothing is stored for it yet
 *   425            the server does not take early data
 *   429            too many requests
 *   502, 503, 504  a proxy or a load balancer got no answer, or found no server
 */
export const NOT_STORED_UNDER_KEY: ReadonlySet<number> = new Set([
  408, 409, 425, 429, 502, 503, 504,
]);

const UNKNOWN: HttpVerdict = { verdict: "unknown" };

export function verdictOfStatus(status: number, about: StatusContext): HttpVerdict {
  if (about.accepts?.includes(status)) return { verdict: "committed" };
  // 303: it is done, and the answer is elsewhere.
  if ((status >= 200 && status < 300) || status === 303) {
    return status === 202 && about.reader
      ? { verdict: "unknown", accepted: true }
      : { verdict: "committed" };
  }
  if (about.refuses.includes(status)) return { verdict: "refused" };
  // "This key was used for another request" does not say whether that request took effect.
  if (about.keyed && (status === 422 || (status === 400 && about.keyError))) return UNKNOWN;
  return REJECTED.has(status) ? { verdict: "rejected" } : UNKNOWN;
}

/** Whether reading again may help: the status proves nothing, and the cause may be temporary. */
export function isRetryableRead(status: number): boolean {
  return (
    status === 408 ||
    status === 409 ||
    status === 425 ||
    status === 429 ||
    (status >= 500 && status < 600)
  );
}
