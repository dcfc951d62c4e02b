/**
 * Remembers which token each living request belongs to.
 *
 * A request is bound to its token when it is created, the one event that every client publishes
 * where its caller stands. Later events come from sockets, which may have been opened under another
 * token; they are told apart by the request object.
 *
 * @module
 */

import type { Watch } from "./counter.ts";
import { locate } from "./redirect.ts";
import type { WireRequest, WireToken } from "./token.ts";

/** The async context, as far as the observer may touch it. */
export interface TokenContext {
  current(): WireToken | undefined;
  /** Puts what follows in this callback under another token, or under none. */
  enter(token: WireToken | undefined): void;
}

/** Which token each living request belongs to. */
export interface Owners {
  /**
   * A proxy's CONNECT carries nothing to the service and is not counted. Returns the error with which
   * the request is to be ended before it is sent, if its token allows none.
   */
  claim(
    request: object,
    transport: WireRequest["transport"],
    line: { readonly method: string; readonly origin: string; readonly target: string },
  ): Error | undefined;
  watchOf(request: object): Watch | undefined;
  /** Puts a client's own reaction to an event (a retry, a redirect) under the request's token. */
  resume(request: object): void;
}

export function createOwners({ current, enter }: TokenContext): Owners {
  const owned = new WeakMap<object, { readonly token: WireToken; readonly watch: Watch }>();
  return {
    claim(request, transport, { method, origin, target }) {
      const token = current();
      if (!token || method === "CONNECT") return undefined;
      if (token.refusal) return token.refusal;
      const watch = token.watch({ transport, method, address: locate(origin, target) });
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
