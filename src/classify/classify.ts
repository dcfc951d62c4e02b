/**
 * Turns what `run` returned or threw, together with what the wire saw, into a verdict: what it proves about the effect.
 * It keeps nothing, and calls no function of the user's but the tool's `classify`. Called by `engine/steps/classify-attempt.ts` and
 * `engine/reads-and-samples/read-tool.ts`.
 *
 * `run` is a user's code: it swallows statuses, wraps errors and goes on in the background. So its word counts
 * only as far as the requests that were seen agree with it, and what was not seen proves nothing.
 *
 * @module
 */

import type { Verdict } from "../reasons.ts";
import { type HeaderReader, headersOf, isAnswer, retryAfterMs, statusOf } from "./answer.ts";
import { type StatusContext, verdictOfStatus } from "./http.ts";
import { isKeyError } from "./key-error.ts";
import { lookAt, type Thrown } from "./thrown.ts";

/** How an attempt ended. */
export type Ended<T = unknown> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/** A request as it is judged. */
export interface JudgedRequest {
  /** The status of its answer; without one, it may have taken effect. */
  readonly status?: number | undefined;
  /** It failed before a byte of it was sent, with this error. */
  readonly unsent?: boolean | undefined;
  readonly error?: unknown;
  /** What was asked for: equal for a request that was sent again. */
  readonly method?: string | undefined;
  readonly href?: string | undefined;
  /** It followed a redirect: its failure says nothing of the request before. */
  readonly hopOf?: number | undefined;
}

/** What was seen of an attempt on the wire. */
export interface Sight {
  /** The writes, with how each ended; of a tool that reads, all requests. */
  readonly requests: readonly JudgedRequest[];
  /** Of a tool that writes: its other requests. */
  readonly reads?: readonly JudgedRequest[] | undefined;
  /** There may be more than what was seen: a no proves nothing. */
  readonly isPartial: boolean;
}

/** What else is needed to judge: facts about the tool, and what was seen. */
export interface JudgeFacts extends StatusContext {
  /** All that the tool does goes through the attempt's own `fetch`. */
  readonly viaHttp: boolean;
  readonly sight: Sight;
  /** A request was seen, of whatever kind. */
  readonly tried?: boolean | undefined;
  /** The parsed body of a returned Response, if it was read. */
  readonly body?: unknown;
  /** That body broke off, or is not the JSON that its content type says. */
  readonly bodyBroken?: boolean | undefined;
  /** The tool's `classify`. If it throws or returns an invalid value, it is ignored. */
  readonly classify?: ((error: unknown) => Verdict | undefined) | undefined;
  /** Milliseconds since the epoch, for a Retry-After date. */
  readonly now: number;
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly status?: number | undefined;
  /** Accepted, not done yet: a 202 for a tool with a reader. */
  readonly accepted?: boolean | undefined;
  readonly code?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Of `not_sent`: it is the tool's own word, or all that the tool does was seen. */
  readonly proven?: boolean | undefined;
  /** Of `not_sent`: it failed before it made any request, not for want of a connection. */
  readonly untried?: boolean | undefined;
  /** The service replayed its stored answer to an earlier request with this key. */
  readonly replayed?: boolean | undefined;
  /** `run` returned a value although the service did not say yes. */
  readonly swallowed?: boolean | undefined;
  /** What `run` threw, as it was looked at. */
  readonly thrown?: Thrown | undefined;
}

/** What is judged. `areReads`: no write was seen, and the requests are reads, one of which may have been it. */
type JudgeFactsWithReads = JudgeFacts & { readonly areReads?: true };

type Proof = Pick<Judgement, "verdict" | "proven" | "untried" | "accepted" | "swallowed">;

const UNKNOWN: Proof = { verdict: "unknown" };
const COMMITTED: Proof = { verdict: "committed" };

const VERDICTS: ReadonlySet<unknown> = new Set<Verdict>([
  "committed",
  "not_sent",
  "refused",
  "rejected",
  "unknown",
]);

export function judge(ended: Ended, given: JudgeFacts): Judgement {
  const facts = withReads(given);
  const { requests } = facts.sight;
  const seen = requests.at(-1)?.status;
  if (!ended.ok) {
    const thrown = lookAt(ended.error);
    const { code, header } = thrown;
    // What a client says of a request that was not answered, it has made up; and our own errors are no answers.
    const status = requests.length > 0 || thrown.hasOurs ? seen : thrown.status;
    return { ...ofThrown(thrown, facts), status, code, ...saidInHeaders(header, facts), thrown };
  }
  const { value } = ended;
  if (!isAnswer(value)) {
    return requests.length === 0 ? COMMITTED : { ...ofValue(facts), status: seen };
  }
  const status = statusOf(value);
  return { ...ofAnswer(value, status, facts), status, ...saidInHeaders(headersOf(value), facts) };
}

const saidInHeaders = (header: HeaderReader, { now }: JudgeFacts) => ({
  retryAfterMs: retryAfterMs(header, now),
  replayed: header("idempotent-replayed") === "true" || undefined,
});

/** A plain value is the tool's own yes, unless the service is known to have said something else. */
function ofValue(facts: JudgeFactsWithReads): Proof {
  const seen = ofRequests(withoutFailedTries(facts));
  if (!seen || isForRun(seen, facts)) return COMMITTED;
  if (isYes(seen)) return seen;
  const isProved = facts.viaHttp && !facts.sight.isPartial;
  return isProved ? { ...seen, swallowed: true } : { verdict: "unknown", swallowed: true };
}

function ofAnswer(answer: unknown, status: number | undefined, facts: JudgeFactsWithReads): Proof {
  const said: Proof = status === undefined ? UNKNOWN : verdictOfStatus(status, facts);
  if (isYes(said)) {
    const seen = ofRequests(withoutFailedTries(facts));
    if (!seen || isForRun(seen, facts) || isYes(seen)) return said;
  }
  const own = opinion(answer, facts);
  if (own) return { verdict: own, proven: true };
  if (isYes(said)) return { verdict: "unknown", swallowed: true };
  const seen = ofRequests(facts, answer);
  const isSeen = facts.sight.requests.at(-1)?.status === status;
  return seen && isSeen && !facts.sight.isPartial ? doubtYes(seen) : UNKNOWN;
}

/** A no to a read is for `run` to judge: there may be nothing to do. */
const isForRun = ({ verdict }: Proof, { areReads }: JudgeFactsWithReads): boolean =>
  areReads === true && verdict !== "unknown";

function ofThrown(thrown: Thrown, facts: JudgeFacts): Proof {
  const { requests, isPartial } = facts.sight;
  const { error, status: told, isInterruption } = thrown;
  if (thrown.isNotApplied) return { verdict: "rejected", proven: true };
  const isNotSent = nothingLeft(thrown, facts);
  if (thrown.hasOurs && !isNotSent) return UNKNOWN;
  const own = opinion(error, facts);
  if (own) return { verdict: own, proven: true };
  if (isNotSent) {
    const untried = !facts.tried && requests.length === 0 && !isInterruption;
    return { verdict: "not_sent", proven: facts.viaHttp, untried: untried || undefined };
  }
  const seen = ofRequests(facts, error);
  if (!seen || isPartial || isInterruption) return UNKNOWN;
  const isSeen = told === undefined || requests.some(({ status }) => status === told);
  return isSeen ? doubtYes(seen) : UNKNOWN;
}

/** The service said yes, and the tool did not: it may have found a no in the body. */
const doubtYes = (seen: Proof): Proof => (seen.verdict === "committed" ? UNKNOWN : seen);

/** Nothing of it left: there was no request, or the only one failed before its first byte, with what `run` threw or a cause of it. */
function nothingLeft({ chain, hasOurs }: Thrown, { sight, viaHttp }: JudgeFacts): boolean {
  const { requests, isPartial } = sight;
  if (isPartial) return false;
  const [only] = requests;
  if (!only) return viaHttp && !hasOurs;
  if (requests.length > 1 || !only.unsent || only.hopOf !== undefined) return false;
  return chain.includes(only.error);
}

/** What all requests together prove; `undefined` if there were none. */
function ofRequests(facts: JudgeFacts, answer?: unknown): Proof | undefined {
  const { requests } = facts.sight;
  if (requests.length === 0) return undefined;
  // A body that broke off may have been an error about the key.
  const keyError = facts.bodyBroken || isKeyError(answer) || isKeyError(facts.body);
  const about = keyError ? { ...facts, keyError } : facts;
  const all = requests.map(
    ({ status }): Proof => (status === undefined ? UNKNOWN : verdictOfStatus(status, about)),
  );
  if (all.every(isYes) && all.some(({ accepted }) => accepted)) {
    return { verdict: "unknown", accepted: true };
  }
  return all.reduce<Proof | undefined>(both, undefined);
}

/**
 * All that the tool does is seen, and it has written nothing, unless by a method that should only read: a read that got
 * out and was not answered yes may have been the write.
 */
function withReads(facts: JudgeFacts): JudgeFactsWithReads {
  const { requests: writes, reads } = facts.sight;
  if (writes.length > 0 || !reads?.length || !facts.viaHttp) return facts;
  const onlyReads = { ...facts, sight: { ...facts.sight, requests: reads } };
  const { requests, ...sight } = withoutFailedTries(onlyReads).sight;
  const doubtful = requests.filter(
    ({ status, unsent }) =>
      !unsent && (status === undefined || !isYes(verdictOfStatus(status, facts))),
  );
  return { ...facts, areReads: true, sight: { ...sight, requests: doubtful } };
}

/** A request that another layer sent again until it was answered yes did happen, at least once. */
function withoutFailedTries(facts: JudgeFacts): JudgeFacts {
  const { requests } = facts.sight;
  if (requests.length < 2) return facts;
  const isRetried = ({ method, href }: JudgedRequest, at: number) =>
    href !== undefined &&
    requests
      .slice(at + 1)
      .some(
        (later) =>
          later.method === method &&
          later.href === href &&
          later.status !== undefined &&
          isYes(verdictOfStatus(later.status, facts)),
      );
  const kept = requests.filter((request, at) => !isRetried(request, at));
  return { ...facts, sight: { ...facts.sight, requests: kept } };
}

const isYes = ({ verdict, accepted }: Proof): boolean =>
  verdict === "committed" || accepted === true;

const both = (before: Proof | undefined, next: Proof): Proof =>
  before === undefined || before.verdict === next.verdict ? next : UNKNOWN;

function opinion(answer: unknown, { classify }: JudgeFacts): Verdict | undefined {
  if (!classify) return undefined;
  try {
    const said: unknown = classify(answer);
    if (said instanceof Promise) said.catch(() => {});
    return VERDICTS.has(said) ? (said as Verdict) : undefined;
  } catch {
    return undefined;
  }
}
