/**
 * What `run` is given. Most of it is made when it is asked for, and what was asked for is noted.
 *
 * The getters are own properties of each context, because users destructure and spread it. Their descriptors are shared,
 * because an object literal with getters gets a hidden class of its own each time. They are few, because each
 * `defineProperty` costs.
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

/** Behind a function: who prints a context, or a copy of it, does not print the key. */
interface Context {
  readonly [SOURCE]: () => ContextSource;
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

/** On top of the platform's `fetch` as it is when it is asked for. */
const FETCH = getter((source) => {
  const { token, keyHeader: name } = source;
  const keyHeader = name === undefined ? undefined : { name, value: () => takeKey(source) };
  return boundFetch(token, globalThis.fetch, { keyHeader });
});

function getter(make: (source: ContextSource) => unknown): PropertyDescriptor {
  return {
    enumerable: true,
    get(this: Context) {
      return make(this[SOURCE]());
    },
  };
}

export function contextFrom(source: ContextSource): AttemptContext {
  const context = { attempt: source.attempt, precondition: undefined, [SOURCE]: () => source };
  Object.defineProperty(context, "key", KEY);
  Object.defineProperty(context, "signal", SIGNAL);
  Object.defineProperty(context, "fetch", FETCH);
  if (source.precondition !== undefined) {
    Object.defineProperty(context, "precondition", PRECONDITION);
  }
  return context as unknown as AttemptContext;
}
