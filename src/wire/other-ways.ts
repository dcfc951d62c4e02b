/**
 * Notices the ways out of an attempt that are not HTTP: sockets it opens, processes and threads it starts. What
 * leaves by them is not counted, so an attempt that has one proves nothing by what was counted.
 *
 * A socket that an HTTP client opens for a request is no such way, unless the request turns it into something else
 * (a WebSocket). An HTTP/2 stream is one while the session has more of them than the server takes at once. What was opened before the attempt (a pooled connection, a file) cannot be noticed.
 *
 * @module
 */

import type { ClientRequest } from "node:http";
import type { ClientHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { soon } from "../lang/clock.ts";
import { peek } from "../lang/peek.ts";
import { subscribeSafely, type TokenContext } from "./request-tokens.ts";
import { termsOf, type WireToken } from "./token-state.ts";

export function watchOtherWays({ current }: TokenContext): void {
  const openedBy = new WeakMap<object, WireToken>();
  /** How many streams are open on an HTTP/2 session. */
  const streams = new WeakMap<object, number>();
  let isUndicis = false;

  function notice(way: object): WireToken | undefined {
    const token = current();
    if (!token || token.refusal) return token;
    token.others ??= new Set();
    token.others.add(way);
    // By then an HTTP client has taken the socket that is for its request.
    soon(() => {
      if (token.others?.has(way)) termsOf(token)?.onOtherWay();
    }).unref();
    return token;
  }

  const release = (socket: object) => openedBy.get(socket)?.others?.delete(socket);

  // undici opens its socket right after it says so.
  subscribeSafely("undici:client:beforeConnect", () => {
    isUndicis = true;
  });
  subscribeSafely<{ socket: Socket }>("net.client.socket", ({ socket }) => {
    const isForRequest = isUndicis;
    isUndicis = false;
    if (isForRequest) return;
    const token = notice(socket);
    // Once it connects, which begins right after this: a socket that is destroyed before would come alive again.
    if (token?.refusal) process.nextTick(() => socket.destroy(token.refusal));
    else if (token) openedBy.set(socket, token);
  });
  // node:http opens the socket before it creates the request, and hands it over a little later.
  subscribeSafely<{ request: ClientRequest }>("http.client.request.created", ({ request }) => {
    if (!current()) return;
    if (request.hasHeader("upgrade")) notice(request);
    else request.once("socket", (socket) => layersOf(socket).forEach(release));
  });
  subscribeSafely<{ request: { readonly upgrade?: unknown } }>(
    "undici:request:create",
    ({ request }) => void (request.upgrade && notice(request)),
  );
  subscribeSafely<{ stream: ClientHttp2Stream }>("http2.client.stream.created", ({ stream }) => {
    const { session } = stream;
    if (!session || (stream.id ?? 1) % 2 === 0) return;
    const open = (streams.get(session) ?? 0) + 1;
    streams.set(session, open);
    stream.once("close", () => streams.set(session, (streams.get(session) ?? 1) - 1));
    // Node keeps what the server does not take at once, and sends it later without a word.
    const most = session.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY;
    const token = open > most ? notice(stream) : undefined;
    if (token) openedBy.set(stream, token);
  });
  subscribeSafely<{ stream: object }>("http2.client.stream.finish", ({ stream }) =>
    release(stream),
  );
  subscribeSafely("udp.socket", ({ socket }: { socket: object }) => void notice(socket));
  subscribeSafely("child_process", (message: { process: object }) => void notice(message.process));
  subscribeSafely("worker_threads", ({ worker }: { worker: object }) => void notice(worker));
}

/** A socket, and the one that it speaks TLS over: through a proxy they are two. */
function layersOf(socket: object): readonly object[] {
  const below = peek(socket, "_parent");
  return typeof below === "object" && below !== null ? [socket, ...layersOf(below)] : [socket];
}
