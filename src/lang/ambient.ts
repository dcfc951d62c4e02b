/**
 * What a call carries through asynchronous work, four things: its scope, the token of the attempt it runs in, the call of
 * that attempt's own `fetch`, and the tool for which holdfire looks.
 *
 * One storage for all four, because Node copies all storages whenever one of them changes. Who owns a value
 * knows its type: scopes are made in `key/scope.ts`, tokens in `wire/token.ts`, calls in `wire/bound-fetch.ts`.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";

export interface Ambient {
  readonly scope: object | undefined;
  readonly token: object | undefined;
  /** The call of the attempt's own `fetch` that is being made. */
  readonly call?: object | undefined;
  /** The tool for which holdfire looks, outside of every attempt. Only `holdfire doctor --live` asks. */
  readonly look?: string | undefined;
}

const NOTHING: Ambient = { scope: undefined, token: undefined };

const storage = new AsyncLocalStorage<Ambient>();

export const ambient = (): Ambient => storage.getStore() ?? NOTHING;

export const runAmbient = <T>(carried: Ambient, fn: () => T): T => storage.run(carried, fn);

/** Carries nothing of the call around it. Other async contexts, those of the user's own, stay. */
export const runOutside = <T>(fn: () => T): T => storage.run(NOTHING, fn);

/** Changes what the rest of this callback carries. */
export const enterAmbient = (carried: Ambient): void => storage.enterWith(carried);
