/**
 * The wire token: one per attempt, carried by the async context. The physical requests made under it are
 * counted on it; of nested tokens only the innermost counts a request.
 *
 * @module
 */

import { ambient, enterAmbient, runAmbient } from "../lang/ambient.ts";
import {
  countOn,
  type Repeat,
  type WireFacts,
  type WireRequest,
  type WireToken,
} from "./counter.ts";
import { observeRequests } from "./observe-requests.ts";

export type { Repeat, WireFacts, WireRequest, WireToken } from "./counter.ts";

export const currentToken = (): WireToken | undefined => ambient().token as WireToken | undefined;

/** Creates a token; the first one starts the observer. */
export function createToken(owner: {
  readonly operationId: string;
  readonly attempt: number;
  readonly refusal?: Error | undefined;
  readonly frame?: object | undefined;
}): WireToken {
  observeRequests({
    current: currentToken,
    enter: (token) => enterAmbient({ ...ambient(), token }),
  });
  const { operationId, attempt, refusal, frame = currentToken()?.frame } = owner;
  return { operationId, attempt, refusal, frame, counter: undefined };
}

/** Runs `fn`; its requests, also later ones, are counted on `token`. Its calls are made in `scope`. */
export function runWithToken<T>(
  token: WireToken,
  fn: () => T,
  scope: object | undefined = ambient().scope,
): T {
  return runAmbient({ scope, token }, fn);
}

/** Runs `fn` under no token: its requests, and the operations it makes, belong to no attempt. */
export function runWithoutToken<T>(fn: () => T): T {
  return currentToken() ? runAmbient({ ...ambient(), token: undefined }, fn) : fn();
}

const NOTHING_SENT: WireFacts = { wireRequests: 0, hops: 0, unsent: false };

export const wireFacts = ({ counter }: WireToken): WireFacts => counter?.facts() ?? NOTHING_SENT;

export const countRequests = (token: WireToken): number => wireFacts(token).wireRequests;

/** The first 64 requests, in order. */
export const requestsOf = ({ counter }: WireToken): readonly WireRequest[] =>
  counter?.requests ?? [];

export const repeats = ({ counter }: WireToken): readonly Repeat[] => counter?.repeats() ?? [];

/** Notes a request that a guard stopped from being sent. */
export const noteRefused = (token: WireToken, request: Parameters<Refuse>[0]): void =>
  countOn(token).refuse(request);

type Refuse = ReturnType<typeof countOn>["refuse"];
