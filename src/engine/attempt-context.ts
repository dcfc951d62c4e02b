/**
 * What `run` is given. Each field is made when it is asked for, and what was asked for is noted.
 *
 * A proxy, because users destructure and spread it, so that its fields must be its own: to define getters for each attempt takes
 * twenty times as long.
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

/** Behind a function: who prints a context does not print the key. */
interface Context {
  readonly source: () => ContextSource;
}

function takeKey({ took, key }: ContextSource): string {
  if (took) took.key = true;
  return key;
}

/** On top of the platform's `fetch` as it is when it is asked for. */
function fetchFor(source: ContextSource): AttemptContext["fetch"] {
  const { token, keyHeader: name } = source;
  const keyHeader = name === undefined ? undefined : { name, value: () => takeKey(source) };
  return boundFetch(token, globalThis.fetch, { keyHeader });
}

type Make = (source: ContextSource) => unknown;

const MAKE = new Map<PropertyKey, Make>(
  Object.entries({
    key: takeKey,
    precondition({ took, precondition }) {
      if (took && precondition !== undefined) took.precondition = true;
      return precondition;
    },
    attempt: ({ attempt }) => attempt,
    signal: ({ signal }) => signal(),
    fetch: fetchFor,
  } satisfies Record<keyof AttemptContext, Make>),
);

const NAMES = [...MAKE.keys()] as string[];

const FIELDS: ProxyHandler<Context> = {
  get({ source }, name) {
    const make = MAKE.get(name);
    return make ? make(source()) : Reflect.get(Object.prototype, name);
  },
  has: (_, name) => MAKE.has(name) || name in Object.prototype,
  ownKeys: () => NAMES,
  // A getter: whoever only asks which fields there are has taken none.
  getOwnPropertyDescriptor: ({ source }, name) => {
    const make = MAKE.get(name);
    return make && { get: () => make(source()), enumerable: true, configurable: true };
  },
  set: () => false,
};

export const contextFrom = (source: ContextSource): AttemptContext =>
  new Proxy({ source: () => source }, FIELDS) as unknown as AttemptContext;
