/**
 * Attempt → **classify** → settle, or read the state. Turns what `run` returned or threw into a
 * verdict: what it proves about the effect.
 *
 * A rejection counts only if the attempt made exactly one physical request and the wire saw the
 * same answer: after a hidden retry, or over a transport that is not counted, it may answer another
 * request.
 *
 * @module
 */

import { isHoldfireError } from "../errors.ts";
import { causes } from "../lang/peek.ts";
import type { Verdict } from "../ledger/record.ts";
import { errorCodeOf, headersOf, isAnswer, isResponse, retryAfterMs, statusOf } from "./answer.ts";
import { verdictOfStatus } from "./http.ts";
import { isKeyError } from "./key-error.ts";
import { networkVerdict } from "./network.ts";

/** How an attempt ended. */
export type Ended =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

/** What else is needed to judge: facts about the tool, and about the wire (`wireFacts(token)`). */
export interface JudgeFacts {
  /** Statuses with which this service says that it did nothing. */
  readonly refuses: readonly number[];
  readonly keyed: boolean;
  readonly reader: boolean;
  /** Physical requests; redirect hops count as one with the request they follow. */
  readonly wireRequests: number;
  /** Redirect hops followed. */
  readonly hops: number;
  /** Every request failed before a byte of it was sent. */
  readonly unsent: boolean;
  /** The status that the wire saw in answer to the request. */
  readonly answered?: number | undefined;
  /** The parsed body of a returned Response, if it was read. */
  readonly body?: unknown;
  /** That body broke off, or is not the JSON that its content type says. */
  readonly bodyBroken?: boolean | undefined;
  /** The tool's `classify`. If it throws or returns an invalid value, it is ignored. */
  readonly own?: ((error: unknown) => Verdict | undefined) | undefined;
  /** Milliseconds since the epoch, for a Retry-After date. */
  readonly now: number;
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly status?: number | undefined;
  /** Accepted, not done yet: a 202 for a tool with a reader. */
  readonly inProgress?: boolean | undefined;
  readonly code?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Rejected because a precondition failed. */
  readonly precondition?: boolean | undefined;
  /** The service replayed its stored answer to an earlier request with this key. */
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

export function judge(ended: Ended, about: JudgeFacts): Judgement {
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

/**
 * Some clients set a status of their own for a lost connection. Without an answer on the wire, it
 * is ignored.
 */
function spokenStatus(error: unknown, { wireRequests, answered }: JudgeFacts): number | undefined {
  return wireRequests === 1 && answered === undefined ? undefined : statusOf(error);
}

function ofResponse(response: unknown, status: number | undefined, about: JudgeFacts): Proof {
  // After a redirect from POST to GET, the success belongs to the fetched page, not to the write.
  const { hops, answered } = about;
  const ofThisRequest = hops === 0 || answered === status;
  if (status !== undefined && isSuccess(status) && ofThisRequest) {
    return verdictOfStatus(status, about);
  }
  const own = opinion(response, about);
  if (own) return { verdict: own };
  return status === undefined ? UNKNOWN : ofStatus(response, status, about);
}

function ofError(error: unknown, status: number | undefined, about: JudgeFacts): Proof {
  const own = opinion(error, about);
  if (own) return { verdict: own };
  if (status !== undefined) {
    // The status is a success and the tool still threw: it may have found an error in the body.
    return isSuccess(status) ? UNKNOWN : ofStatus(error, status, about);
  }
  const { wireRequests, hops, unsent } = about;
  const left = wireRequests !== 1 || hops !== 0 || unsent !== true;
  return !left && networkVerdict(error) === "not_sent" ? { verdict: "not_sent" } : UNKNOWN;
}

function ofStatus(answer: unknown, status: number, about: JudgeFacts): Proof {
  if (about.wireRequests !== 1 || about.answered !== status) return UNKNOWN;
  return verdictOfStatus(status, {
    ...about,
    // A body that broke off may have been an error about the key.
    keyError: about.bodyBroken || isKeyError(answer) || isKeyError(about.body),
  });
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Whether it is the failure of an operation made inside this attempt, also if an SDK has wrapped it. */
const isInner = (error: unknown): boolean =>
  causes(error).some((link) => {
    try {
      return isHoldfireError(link);
    } catch {
      return false;
    }
  });

function opinion(answer: unknown, { own }: JudgeFacts): Verdict | undefined {
  if (!own) return undefined;
  try {
    const said: unknown = own(answer);
    if (said instanceof Promise) said.catch(() => {});
    return VERDICTS.has(said) ? (said as Verdict) : undefined;
  } catch {
    return undefined;
  }
}
