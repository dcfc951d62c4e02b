/**
 * The wire token: one per attempt, carried by the async context, counts the physical requests made
 * under it. Of nested tokens only the innermost counts a request.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { createCounter, type Repeat, type WireFacts, type WireToken } from "./counter.ts";
import { observeRequests } from "./observe-requests.ts";

export type { Repeat, WireFacts, WireRequest, WireToken } from "./counter.ts";

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
