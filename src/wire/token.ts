/**
 * The wire token: one per attempt, one per read of the state, and one per call that the MCP adapter hands to its client, carried
 * by the async context. The physical requests made under it are
 * counted on it; of nested tokens only the innermost counts a request.
 *
 * How a request gets here: `observe-requests.ts` listens to the HTTP clients of the process (`undici.ts`, `node-http.ts`,
 * `node-http2.ts`) → `request-tokens.ts` finds the token it was made under → `late-request.ts` says whether it may leave,
 * and if not, the client's file ends it unsent → `counter.ts` counts it and notes how it ended, which `sightOf` tells the engine; a write
 * that is under way when its time runs out is ended by the client's file, too (`tearDown`). `bound-fetch.ts` is the attempt's own
 * `fetch`: it sends through `guarded-fetch.ts`, which sends each request once and follows redirects (`follow.ts`), and which
 * clients are also given by itself.
 *
 * @module
 */

import type { Sight } from "../classify/classify.ts";
import { type Ambient, ambient, enterAmbient, runAmbient } from "../lang/ambient.ts";
import { answersIn, type WireRequest } from "./answers.ts";
import { isWrite, type WireFacts } from "./counter.ts";
import { observeRequests } from "./observe-requests.ts";
import { showsFetch } from "./platform-fetch.ts";
import type { Repeat } from "./repeats.ts";
import type { BoundCall, TokenContext } from "./request-tokens.ts";
import { beginWrite, countOn, type WireToken } from "./token-state.ts";

export type { WireRequest } from "./answers.ts";
export type { WireFacts } from "./counter.ts";
export type { Repeat } from "./repeats.ts";
export type { OutgoingRequest, WireToken, WriteTerms } from "./token-state.ts";
export { endToken, stopSuspecting, termsOf } from "./token-state.ts";

export const currentToken = (): WireToken | undefined => ambient().token as WireToken | undefined;

const CONTEXT: TokenContext = {
  current: currentToken,
  call: () => ambient().call as BoundCall | undefined,
  carried: ambient,
  enter(carried, token) {
    const { scope, look } = (carried ?? {}) as Partial<Ambient>;
    const now = ambient();
    if (now.scope !== scope || now.token !== token) {
      enterAmbient({ scope, look, token, call: undefined });
    }
  },
};

/** Creates a token; the first one starts the observer. */
export function createToken(
  owner: Pick<WireToken, "operationId" | "attempt"> &
    Partial<Pick<WireToken, "refusal" | "frame" | "makeTerms" | "group">>,
): WireToken {
  observeRequests(CONTEXT);
  const { operationId, attempt, refusal, frame = currentToken()?.frame } = owner;
  const token: WireToken = {
    operationId,
    attempt,
    refusal,
    frame,
    makeTerms: owner.makeTerms,
    terms: undefined,
    group: owner.group,
    counter: undefined,
    hasEnded: false,
    others: undefined,
    contextLost: false,
  };
  beginWrite(token);
  return token;
}

/** Runs `fn`; its requests, also later ones, are counted on `token`. Its calls are made in `scope`. */
export function runWithToken<T>(
  token: WireToken,
  fn: () => T,
  scope: object | undefined = ambient().scope,
): T {
  return runAmbient({ scope, token, call: undefined }, fn);
}

/** As `runWithToken`, for one call of the attempt's own `fetch`. */
export const runAsCall = <T>(token: WireToken, call: BoundCall, fn: () => T): T =>
  runAmbient({ scope: ambient().scope, token, call }, fn);

/** Runs `fn` under no token: its requests, and the operations it makes, belong to no attempt. */
export function runWithoutToken<T>(fn: () => T): T {
  return currentToken()
    ? runAmbient({ ...ambient(), token: undefined, call: undefined }, fn)
    : fn();
}

/** For a look that is no reading of one operation: a plan, a list of effects. Inside an attempt it is part of that. */
export const runAsLook = <T>(tool: string, fn: () => T): T =>
  currentToken() ? fn() : runAmbient({ ...ambient(), look: tool }, fn);

const NOTHING_SENT: WireFacts = { wireRequests: 0, hops: 0, unsent: false };

export const wireFacts = ({ counter }: WireToken): WireFacts => counter?.facts() ?? NOTHING_SENT;

/** Ends the writes under it that were sent and are not answered: another process may count on it that they have ended. */
export const tearDown = ({ counter }: WireToken): void => counter?.tearDown();

/** The first 64 requests, in order. */
export const requestsOf = ({ counter }: WireToken): readonly WireRequest[] =>
  counter?.requests ?? [];

/** The requests with how each ended. */
export const answersOf = (token: WireToken): readonly WireRequest[] => answersIn(requestsOf(token));

/** Whether the requests of the platform's own `fetch` can be seen. */
export const FETCH_IS_SHOWN: boolean = showsFetch();
const NO_REQUESTS: readonly WireRequest[] = [];

/** The requests of a write, with how each ended, and whether there may be more. */
export function sightOf(token: WireToken, viaHttp: boolean): Sight {
  const { counter } = token;
  const all = counter
    ? [...answersOf(token), ...counter.beyond()].filter(({ ignored }) => !ignored)
    : NO_REQUESTS;
  // What it does goes through its own `fetch`, so that no other way out and no lost context can hide it.
  const isLost =
    !viaHttp && (!FETCH_IS_SHOWN || token.contextLost || (token.others?.size ?? 0) > 0);
  const isPartial = isLost || token.counter?.isFull() === true;
  if (all.length === 0) return { requests: NO_REQUESTS, reads: NO_REQUESTS, isPartial };
  const reads = all.filter((request) => !isWrite(request));
  return { requests: all.filter(isWrite), reads, isPartial };
}

export const repeats = ({ counter }: WireToken): readonly Repeat[] => counter?.repeats() ?? [];

/** Notes a request that a guard stopped from being sent. */
export const noteRefused = (token: WireToken, request: Parameters<Refuse>[0]): void =>
  countOn(token).refuse(request);

type Refuse = ReturnType<typeof countOn>["refuse"];
