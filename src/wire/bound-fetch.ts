/**
 * The `fetch` of one attempt: `context.fetch`. Bound to the attempt and not to the async context, so what it
 * sends belongs to this attempt for certain, and after the attempt's end it sends nothing.
 *
 * @module
 */

import { AttemptEndedError } from "../errors.ts";
import { isSafe, isWrite, type Seen } from "./counter.ts";
import { type Fetch, fetchUnder } from "./guarded-fetch.ts";
import { permitFor } from "./late-request.ts";
import { type Address, locate } from "./redirect.ts";
import { type Init, type Input, identify, membersOf } from "./request-identity.ts";
import { type BoundCall, isIgnored } from "./request-tokens.ts";
import { currentToken, runAsCall } from "./token.ts";
import { countOn, type WireToken } from "./token-state.ts";

export interface BoundOptions {
  readonly keyHeader?: KeyHeader | undefined;
  /** The method of the request that is the whole effect of the tool: also a GET is a write then. */
  readonly effect?: string | undefined;
}

/** A header that each write carries. */
export interface KeyHeader {
  readonly name: string;
  value(): string;
}

export function boundFetch(token: WireToken, fetch: Fetch, options: BoundOptions = {}): Fetch {
  const { keyHeader, effect } = options;
  return async (input, init) => {
    const line = lineOf(input, init);
    const isEffect = line.method === effect;
    const writes = isEffect || !isSafe(line.method);
    if (token.hasEnded) throw new AttemptEndedError({ ...line.address, method: line.method });
    // As `fetch` itself does, but before it counts as sent.
    line.signal?.throwIfAborted();
    const given = writes && keyHeader ? withKey(input, init, keyHeader) : init;
    const { text: body, digest } = identify(input, given) ?? {};
    const call: BoundCall = { body, digest, effect, seen: 0 };
    const send = (options: Init) =>
      runAsCall(token, call, () =>
        fetchUnder(token, observed(fetch, call, token), input, options, isEffect),
      );
    return writes ? sendWrite(send, given, line, token) : send(given);
  };
}

/** Held until it is answered, and until then torn down by a signal: also where the observer does not see it. */
async function sendWrite(
  send: (options: Init) => Promise<Response>,
  init: Init,
  { method, address, signal }: Line,
  token: WireToken,
): Promise<Response> {
  const { signal: torn, abort } = tearable(signal);
  const release = countOn(token).hold(() =>
    abort(new AttemptEndedError({ ...address, method }, true)),
  );
  try {
    return await send({ ...membersOf(init), signal: torn });
  } finally {
    release();
  }
}

/** A signal that fires with the given one, or by `abort`. One of another make is left as it is: a stand-in may want it. */
function tearable(given: Line["signal"]) {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (reason: Error): void => controller.abort(reason);
  if (!given) return { signal, abort };
  if (!(given instanceof AbortSignal)) return { signal: given, abort: () => {} };
  return { signal: AbortSignal.any([given, signal]), abort };
}

/** This `fetch`, bound to the attempt that runs now; outside of one, as it is. */
export function attemptFetch(fetch: Fetch = globalThis.fetch, effect?: string): Fetch {
  const token = currentToken();
  return token ? boundFetch(token, fetch, { effect }) : fetch;
}

interface Line {
  readonly method: string;
  readonly address: Address;
  readonly signal: AbortSignal | null | undefined;
}

function lineOf(input: Input, init: Init): Line {
  const request = typeof input === "string" || input instanceof URL ? undefined : input;
  const url = URL.parse(request?.url ?? String(input));
  const method = (init?.method ?? request?.method ?? "GET").toUpperCase();
  const signal = init?.signal === undefined ? request?.signal : init.signal;
  return { method, address: locate(url?.origin ?? "", url?.href ?? ""), signal };
}

function withKey(input: Input, init: Init, { name, value }: KeyHeader): Init {
  const request = typeof input === "string" || input instanceof URL ? undefined : input;
  const headers = new Headers(init?.headers ?? request?.headers);
  if (!headers.has(name)) headers.set(name, value());
  return { ...membersOf(init), headers };
}

/** Counts the request here where the observer has seen none: the `fetch` is a stand-in, or another runtime's. */
function observed(fetch: Fetch, call: BoundCall, token: WireToken): Fetch {
  return async (input, init) => {
    const before = call.seen;
    const { method, address } = lineOf(input, init);
    const ignored = isIgnored(token, { method, url: address.href, body: call.body });
    const effect = call.effect === method || undefined;
    const known = { bound: true, ignored, effect, body: call.digest };
    const seen: Seen = { transport: "fetch", method, address, ...known };
    const watch = () => (call.seen === before ? countOn(token).watch(seen) : undefined);
    // Also where the observer could not stop it.
    const permit = isWrite(seen) && !token.hasEnded ? permitFor(token, method, address) : "mine";
    if (permit instanceof Error) {
      watch()?.failed(permit);
      throw permit;
    }
    try {
      const response = await fetch(input, init);
      watch()?.answered(response.status, response.headers.get("location") ?? undefined);
      return response;
    } catch (error) {
      watch()?.failed(error);
      throw error;
    }
  };
}
