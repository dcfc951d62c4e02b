/**
 * Remembers which token each open request belongs to.
 *
 * A request is bound to its token when it is created: that event is the only one that every client
 * publishes in the async context of its caller. Later events come from sockets, which may have been
 * opened under another token; the request object identifies them.
 *
 * @module
 */

import { subscribe } from "node:diagnostics_channel";
import type { Writable } from "node:stream";
import { AttemptEndedError } from "../errors.ts";
import type { WireRequest } from "./answers.ts";
import { isWrite, type Watch } from "./counter.ts";
import { permitFor } from "./late-request.ts";
import { type Address, locate } from "./redirect.ts";
import { countOn, type OutgoingRequest, termsOf, type WireToken } from "./token-state.ts";

/** One call of an attempt's own `fetch`. */
export interface BoundCall {
  readonly body: string | undefined;
  /** A digest of the body, where it can be compared. */
  readonly digest: string | undefined;
  /** The method of the request that is the tool's effect; a hop that follows it may have another. */
  readonly effect: string | undefined;
  /** How many of its requests were seen on the wire. */
  seen: number;
}

/** The part of the async context that the observer may use. */
export interface TokenContext {
  current(): WireToken | undefined;
  /** The call of an attempt's own `fetch` that is being made. */
  call(): BoundCall | undefined;
  /** All that the caller carries: also its scope, in which it makes calls. */
  carried(): object;
  /** Runs the rest of this callback with what the caller of a request carried, under this token or under none. */
  enter(carried: object | undefined, token: WireToken | undefined): void;
}

/** Which token each open request belongs to. */
export interface RequestTokens {
  /**
   * Binds a request to the current token. A proxy's CONNECT carries nothing to the service and is
   * not counted. If this one may not leave, returns the error with which to end it unsent.
   */
  bind(request: object, transport: WireRequest["transport"], line: Line): Error | undefined;
  /** Asked again when its head is about to be written. */
  mayNotLeave(request: object): Error | undefined;
  watchOf(request: object): Watch | undefined;
  /** Runs a client's reaction to an event (a retry, a redirect, a callback) as its caller's, under the request's token. */
  resume(request: object): void;
}

interface Line {
  readonly method: string;
  readonly origin: string;
  readonly target: string;
  readonly authorization: () => string | undefined;
  /** Of its body, where it is known before that is sent. */
  readonly length?: string | undefined;
  /** Ends it with this error, if its head was sent or is being sent. */
  readonly tearDown: (error: Error) => void;
}

/** A request that was bound to its token. */
interface OpenRequest {
  readonly token: WireToken;
  readonly watch: Watch;
  readonly method: string;
  readonly address: Address;
  readonly writes: boolean;
}

export function createRequestTokens(context: TokenContext): RequestTokens {
  const { current, call, carried, enter } = context;
  const requests = new WeakMap<object, OpenRequest>();
  const callers = new WeakMap<object, object>();
  return {
    bind(request, transport, { method, origin, target, authorization, length, ...line }) {
      const token = current();
      // Others keep the context of their callers by themselves.
      if (transport === "undici") callers.set(request, carried());
      if (!token || method === "CONNECT") return undefined;
      if (token.refusal) return token.refusal;
      const address = locate(origin, target);
      const through = call();
      const ignored = isIgnored(token, { method, url: address.href, body: through?.body });
      const effect = through?.effect === method || undefined;
      const writes = isWrite({ method, ignored, effect });
      const permit = writes ? permitFor(token, method, address) : "mine";
      if (permit === "passes") return undefined;
      if (permit !== "mine" && token.hasEnded) return permit;
      if (through) through.seen += 1;
      const bound = through ? true : undefined;
      const body = through?.digest ?? length;
      const tearDown = () => line.tearDown(new AttemptEndedError({ ...address, method }, true));
      const facts = { transport, method, address, bound, ignored, effect, body };
      const watch = countOn(token).watch({ ...facts, authorization, tearDown });
      if (permit === "mine") {
        requests.set(request, { token, watch, method, address, writes });
        return undefined;
      }
      // Stopped before it began, and its attempt goes on: what it then says is judged by that.
      watch.failed(permit);
      return permit;
    },
    mayNotLeave(request) {
      const one = requests.get(request);
      const permit = one?.writes ? permitFor(one.token, one.method, one.address) : "mine";
      return permit instanceof Error ? permit : undefined;
    },
    watchOf: (request) => requests.get(request)?.watch,
    resume(request) {
      enter(callers.get(request), requests.get(request)?.token);
    },
  };
}

/** What the tool says is no part of the effect; a rule that fails says nothing. */
export function isIgnored(token: WireToken, request: OutgoingRequest): true | undefined {
  try {
    return termsOf(token)?.ignores(request) || undefined;
  } catch {
    return undefined;
  }
}

/** Ends a request. Where nothing listens for its errors, one of ours must not end the process. */
export function endWith(request: Writable, error: Error): void {
  request.on("error", () => {});
  request.destroy(error);
}

export function subscribeSafely<Message>(
  channel: string,
  listener: (message: Message) => void,
): void {
  subscribe(channel, (message) => {
    try {
      listener(message as Message);
    } catch {
      // A fault of the observer must not become one of the request that it observes.
    }
  });
}
