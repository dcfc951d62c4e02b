/**
 * The session with a server that has one, until 2025-11-25. A server may end it at any time, and then answers 404: a
 * new one is begun as the host began the first, without the host.
 *
 * @module
 */

import { ownRevision, type Session } from "./address-headers.ts";
import { type Message, messageOf, parseLine } from "./message.ts";

type Post = (message: Message, line: string, stop: AbortSignal) => Promise<Response>;

export interface SessionParts {
  readonly session: Session;
  readonly post: Post;
  /** Listens to what the server says first, until it is stopped. */
  readonly listen: (stop: AbortSignal) => Promise<void>;
  readonly closed: AbortSignal;
}

export interface Sessions {
  /** Posts a message. One that only asks is posted again where a new session was begun; no other is. */
  readonly post: Post;
}

const INITIALIZED = "notifications/initialized";
const ONLY_ASKS = /^(ping|completion\/complete|logging\/setLevel|[a-z/]+\/(list|read|get))$/;

export function createSessions({ session, post, listen, closed }: SessionParts): Sessions {
  let initialize: string | undefined;
  let initialized: string | undefined;
  let listening = new AbortController();
  let renewing: Promise<void> | undefined;

  async function posted(message: Message, line: string, stop: AbortSignal): Promise<Response> {
    const response = await post(message, line, stop);
    const method = "method" in message ? message.method : undefined;
    if (response.ok && method === "initialize") {
      initialize = line;
      session.id = response.headers.get("mcp-session-id") ?? undefined;
    }
    if (response.ok && method === INITIALIZED) {
      initialized = line;
      listening.abort();
      listening = new AbortController();
      void listen(AbortSignal.any([closed, listening.signal])).catch(() => {});
    }
    return response;
  }

  async function renew(): Promise<void> {
    const { id } = session;
    const again = async (line: string | undefined) => {
      if (line === undefined) return true;
      const response = await posted(messageOf(parseLine(Buffer.from(line))), line, closed);
      // The host has had its answer.
      await response.body?.cancel();
      return response.ok;
    };
    session.id = undefined;
    const isBegun = await again(initialize).catch(() => false);
    if (isBegun) await again(initialized);
    // The server knows it no more, and so the next message tries again.
    else session.id = id;
  }

  return {
    async post(message, line, stop) {
      const { id } = session;
      const response = await posted(message, line, stop);
      const isLost = response.status === 404 && id !== undefined && !ownRevision(message);
      if (!isLost || ("method" in message && message.method === "initialize")) return response;
      if (session.id === id) {
        renewing ??= renew().finally(() => {
          renewing = undefined;
        });
      }
      await renewing?.catch(() => {});
      const asksOnly = message.kind === "request" && ONLY_ASKS.test(message.method);
      if (!asksOnly || session.id === undefined || session.id === id) return response;
      await response.body?.cancel();
      return posted(message, line, stop);
    },
  };
}
