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
import { countOn, type Watch, type WireRequest, type WireToken } from "./counter.ts";
import { locate } from "./redirect.ts";

/** The part of the async context that the observer may use. */
export interface TokenContext {
  current(): WireToken | undefined;
  /** Runs the rest of this callback under another token, or under none. */
  enter(token: WireToken | undefined): void;
}

/** Which token each open request belongs to. */
export interface RequestTokens {
  /**
   * Binds a request to the current token. A proxy's CONNECT carries nothing to the service and is
   * not counted. If the token allows no requests, returns the error with which to end this one
   * unsent.
   */
  bind(
    request: object,
    transport: WireRequest["transport"],
    line: { readonly method: string; readonly origin: string; readonly target: string },
  ): Error | undefined;
  watchOf(request: object): Watch | undefined;
  /** Runs a client's reaction to an event (a retry, a redirect) under the request's token. */
  resume(request: object): void;
}

export function createRequestTokens({ current, enter }: TokenContext): RequestTokens {
  const owned = new WeakMap<object, { readonly token: WireToken; readonly watch: Watch }>();
  return {
    bind(request, transport, { method, origin, target }) {
      const token = current();
      if (!token || method === "CONNECT") return undefined;
      if (token.refusal) return token.refusal;
      const watch = countOn(token).watch({ transport, method, address: locate(origin, target) });
      owned.set(request, { token, watch });
      return undefined;
    },
    watchOf: (request) => owned.get(request)?.watch,
    resume(request) {
      const token = owned.get(request)?.token;
      if (current() !== token) enter(token);
    },
  };
}

export function subscribeSafely<Message>(
  channel: string,
  listener: (message: Message) => void,
): void {
  subscribe(channel, (message) => {
    try {
      listener(message as Message);
    } catch {
      // see the header
    }
  });
}
