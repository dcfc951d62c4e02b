/**
 * What `run` is given. Most of it is made when it is asked for, and what was asked for is noted.
 *
 * The getters are shared by all contexts: an object literal with getters of its own gets a hidden class of its own,
 * which costs more than all else that an attempt makes.
 *
 * @module
 */

import { boundFetch } from "../wire/bound-fetch.ts";
import type { WireToken } from "../wire/token.ts";
import type { AttemptContext } from "./define/definition.ts";

export interface ContextSource {
  readonly key: string;
  readonly precondition?: AttemptContext["precondition"];
  readonly attempt: number;
  /** The header that carries the key, in what `fetch` sends. */
  readonly keyHeader?: string | undefined;
  readonly signal: () => AbortSignal;
  readonly token: WireToken;
  /** Of a write: what `run` has asked for. */
  readonly took?: Took;
}

export interface Took {
  key: boolean;
  precondition: boolean;
}

const SOURCE = Symbol("source");

interface Context {
  readonly [SOURCE]: ContextSource;
}

function takeKey({ took, key }: ContextSource): string {
  if (took) took.key = true;
  return key;
}

const KEY = getter(takeKey);

const PRECONDITION = getter(({ took, precondition }) => {
  if (took) took.precondition = true;
  return precondition;
});

const SIGNAL = getter(({ signal }) => signal());

const FETCH = getter((source) => {
  const { token, keyHeader: name } = source;
  const value = () => takeKey(source);
  const keyHeader = name === undefined ? undefined : { name, value };
  return boundFetch(token, globalThis.fetch, { keyHeader });
});

function getter(make: (source: ContextSource) => unknown): PropertyDescriptor {
  return {
    enumerable: true,
    get(this: Context) {
      return make(this[SOURCE]);
    },
  };
}

export function contextFrom(source: ContextSource): AttemptContext {
  const context = { attempt: source.attempt };
  Object.defineProperty(context, SOURCE, { value: source });
  Object.defineProperty(context, "key", KEY);
  Object.defineProperty(context, "precondition", PRECONDITION);
  Object.defineProperty(context, "signal", SIGNAL);
  Object.defineProperty(context, "fetch", FETCH);
  return context as AttemptContext;
}
