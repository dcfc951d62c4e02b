/**
 * The wire token: one per attempt, carried by the async context, counting the physical requests made
 * under it. Of nested tokens the innermost counts; a request belongs to exactly one.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { type Counter, createCounter } from "./counter.ts";
import { observeRequests } from "./observe-requests.ts";

/** One physical request, as far as it was seen. */
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

/** A request that was made more than once; redirect hops aside, and polling of what was answered. */
export interface Repeat {
  readonly origin: string;
  readonly method: string;
  readonly path: string;
  /** How often it went out. */
  readonly count: number;
  /** How often a guard has stopped it from going out again. */
  readonly refused?: number | undefined;
}

/** What the wire proves of an attempt; spread it into what `judge` is told. */
export interface WireFacts {
  /** Physical requests; a redirect hop is one with the request it follows. */
  readonly wireRequests: number;
  /** Redirect hops followed. With any, a refused connection no longer proves that nothing was sent. */
  readonly hops: number;
  /** There was a request, and each failed before a byte of it was sent. */
  readonly unsent: boolean;
  /**
   * The status in answer to the first request, across hops that kept its method. A hop from POST to
   * GET only fetches a page afterwards: its status says nothing of the POST.
   */
  readonly answered?: number | undefined;
}

export interface WireToken extends Counter {
  readonly operationId: string;
  readonly attempt: number;
  /** No request may be sent under it; this is what those who try are told. */
  readonly refusal: Error | undefined;
}

const storage = new AsyncLocalStorage<WireToken | undefined>();

export const currentToken = (): WireToken | undefined => storage.getStore();

/** Makes a token; the first one starts the watching. */
export function createToken(owner: {
  readonly operationId: string;
  readonly attempt: number;
  readonly refusal?: Error | undefined;
}): WireToken {
  observeRequests({ current: currentToken, enter: (token) => storage.enterWith(token) });
  const { operationId, attempt, refusal } = owner;
  return { operationId, attempt, refusal, ...createCounter() };
}

/** Runs `fn`; whatever it starts, also later, is counted on `token`. */
export function runWithToken<T>(token: WireToken, fn: () => T): T {
  return storage.run(token, fn);
}

/** Runs `fn` under no token: its requests are nobody's attempt. */
export function runWithoutToken<T>(fn: () => T): T {
  return storage.run(undefined, fn);
}

export const countRequests = (token: WireToken): number => token.facts().wireRequests;

export const repeats = (token: WireToken): readonly Repeat[] => token.repeats();

export const wireFacts = (token: WireToken): WireFacts => token.facts();
