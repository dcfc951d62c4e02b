/**
 * The wire token: one per attempt, carried by the async context, counts the physical requests made
 * under it. Of nested tokens only the innermost counts a request.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { type Counter, createCounter } from "./counter.ts";
import { observeRequests } from "./observe-requests.ts";

/** What was observed of one physical request. */
export interface WireRequest {
  readonly transport: "undici" | "http" | "http2";
  readonly origin: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The number, from 0, of the request whose redirect this one follows. */
  readonly hopOf?: number | undefined;
  /** The status of its answer, once there is one. */
  readonly status?: number | undefined;
}

/** A request that was made more than once. Redirect hops and polling do not count. */
export interface Repeat {
  readonly origin: string;
  readonly method: string;
  readonly path: string;
  /** How often it was sent. */
  readonly count: number;
  /** How often a guard stopped it from being sent again. */
  readonly refused?: number | undefined;
}

/** What the wire proves about an attempt; part of the input of `judge`. */
export interface WireFacts {
  /** Physical requests; a redirect hop counts as one with the request it follows. */
  readonly wireRequests: number;
  /** Redirect hops followed. With any, a refused connection no longer proves that nothing was sent. */
  readonly hops: number;
  /** There was at least one request, and each failed before a byte of it was sent. */
  readonly unsent: boolean;
  /**
   * The status in answer to the first request, across hops that kept its method. A hop from POST to
   * GET only fetches a page afterwards: its status proves nothing about the POST.
   */
  readonly answered?: number | undefined;
}

export interface WireToken extends Counter {
  readonly operationId: string;
  readonly attempt: number;
  /** Set if no request may be sent under it: the error that each such request gets. */
  readonly refusal: Error | undefined;
}

const storage = new AsyncLocalStorage<WireToken | undefined>();

export const currentToken = (): WireToken | undefined => storage.getStore();

/** Creates a token; the first one starts the observer. */
export function createToken(owner: {
  readonly operationId: string;
  readonly attempt: number;
  readonly refusal?: Error | undefined;
}): WireToken {
  observeRequests({ current: currentToken, enter: (token) => storage.enterWith(token) });
  const { operationId, attempt, refusal } = owner;
  return { operationId, attempt, refusal, ...createCounter() };
}

/** Runs `fn`; its requests, also later ones, are counted on `token`. */
export function runWithToken<T>(token: WireToken, fn: () => T): T {
  return storage.run(token, fn);
}

/** Runs `fn` under no token: its requests belong to no attempt. */
export function runWithoutToken<T>(fn: () => T): T {
  return storage.run(undefined, fn);
}

export const countRequests = (token: WireToken): number => token.facts().wireRequests;

export const repeats = (token: WireToken): readonly Repeat[] => token.repeats();

export const wireFacts = (token: WireToken): WireFacts => token.facts();
