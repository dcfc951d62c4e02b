/**
 * Attempt → **classify** → settle, or read the state. Turns what `run` returned or threw into what
 * it proves.
 *
 * A no is believed only of an attempt that made exactly one physical request, and only if the wire
 * saw the same answer: after a hidden retry, or over a transport nobody counts, it may be an answer
 * to something else.
 *
 * @module
 */

import { isHoldfireError } from "../errors.ts";
import { causes } from "../lang/peek.ts";
import type { Verdict } from "../ledger/record.ts";
import { errorCodeOf, headersOf, isAnswer, isResponse, statusOf } from "./answer.ts";
import { verdictOfStatus } from "./http.ts";
import { isKeyError } from "./key-error.ts";
import { networkVerdict } from "./network.ts";
import { retryAfterMs } from "./retry-after.ts";

/** How an attempt ended. */
export type Ended =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

/** What must be known beside the ending: of the tool, and of the wire (`wireFacts(token)`). */
export interface Judged {
  /** Statuses by which this service says that it did nothing. */
  readonly refuses: readonly number[];
  readonly keyed: boolean;
  readonly reader: boolean;
  /** Physical requests; redirect hops count as one with the request they follow. */
  readonly wireRequests: number;
  /** Redirect hops followed. */
  readonly hops: number;
  /** Every request failed before a byte of it was sent. */
  readonly unsent: boolean;
  /** The status the wire saw in answer to the request. */
  readonly answered?: number | undefined;
  /** The parsed body of a returned Response, where somebody has read it. */
  readonly body?: unknown;
  /** That body broke off, or is not the JSON it says it is: what else it said, nobody knows. */
  readonly bodyBroken?: boolean | undefined;
  /** The tool's `classify`. Throwing or returning nonsense is no opinion. */
  readonly own?: ((error: unknown) => Verdict | undefined) | undefined;
  /** Milliseconds since the epoch, for a Retry-After date. */
  readonly now: number;
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly status?: number | undefined;
  /** Accepted, not done: 202 from a tool with a reader. */
  readonly inProgress?: boolean | undefined;
  readonly code?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Rejected by a precondition. */
  readonly precondition?: boolean | undefined;
  /** The service gave its stored answer to an earlier request with this key. */
  readonly replayed?: boolean | undefined;
}

type Proof = Pick<Judgement, "verdict" | "inProgress" | "precondition">;

const UNKNOWN: Proof = { verdict: "unknown" };

const VERDICTS: ReadonlySet<unknown> = new Set<Verdict>([
  "committed",
  "not_sent",
  "refused",
  "rejected",
  "unknown",
]);

export function judge(ended: Ended, about: Judged): Judgement {
  if (ended.ok && !isResponse(ended.value) && !isAnswer(ended.value)) {
    return { verdict: "committed" };
  }
  const answer = ended.ok ? ended.value : ended.error;
  if (!ended.ok && isInner(answer)) return { verdict: "unknown", code: errorCodeOf(answer) };
  const status = ended.ok ? statusOf(answer) : spokenStatus(answer, about);
  const header = headersOf(answer);
  return {
    ...(ended.ok ? ofResponse(answer, status, about) : ofError(answer, status, about)),
    status,
    code: ended.ok ? undefined : errorCodeOf(answer),
    retryAfterMs: retryAfterMs(header, about.now),
    replayed: header("idempotent-replayed") === "true" || undefined,
  };
}

/** Some clients give a lost connection a status of their own making: nobody answered, so nobody said it. */
function spokenStatus(error: unknown, { wireRequests, answered }: Judged): number | undefined {
  return wireRequests === 1 && answered === undefined ? undefined : statusOf(error);
}

function ofResponse(response: unknown, status: number | undefined, about: Judged): Proof {
  // After a hop that changed POST to GET the success is a page's, not the write's.
  const { hops, answered } = about;
  const ofThisRequest = hops === 0 || answered === status;
  if (status !== undefined && isSuccess(status) && ofThisRequest) {
    return verdictOfStatus(status, about);
  }
  const own = opinion(response, about);
  if (own) return { verdict: own };
  return status === undefined ? UNKNOWN : ofStatus(response, status, about);
}

function ofError(error: unknown, status: number | undefined, about: Judged): Proof {
  const own = opinion(error, about);
  if (own) return { verdict: own };
  if (status !== undefined) {
    // Something answered "yes" and the tool still threw: it may have read a "no" in the body.
    return isSuccess(status) ? UNKNOWN : ofStatus(error, status, about);
  }
  const { wireRequests, hops, unsent } = about;
  const left = wireRequests !== 1 || hops !== 0 || unsent !== true;
  return !left && networkVerdict(error) === "not_sent" ? { verdict: "not_sent" } : UNKNOWN;
}

function ofStatus(answer: unknown, status: number, about: Judged): Proof {
  if (about.wireRequests !== 1 || about.answered !== status) return UNKNOWN;
  return verdictOfStatus(status, {
    ...about,
    // A body that broke off may have been about the key.
    keyError: about.bodyBroken || isKeyError(answer) || isKeyError(about.body),
  });
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** The failure of an operation made inside this attempt, also when an SDK has wrapped it. */
const isInner = (error: unknown): boolean =>
  causes(error).some((link) => {
    try {
      return isHoldfireError(link);
    } catch {
      return false;
    }
  });

function opinion(answer: unknown, { own }: Judged): Verdict | undefined {
  if (!own) return undefined;
  try {
    const said: unknown = own(answer);
    if (said instanceof Promise) said.catch(() => {});
    return VERDICTS.has(said) ? (said as Verdict) : undefined;
  } catch {
    return undefined;
  }
}
