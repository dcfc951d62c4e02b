/**
 * Observes undici: native fetch and every version of the npm package.
 *
 * @module
 */

import type { Duplex } from "node:stream";
import { peek } from "../lang/peek.ts";
import { headerIn } from "./redirect.ts";
import type { RequestTokens } from "./request-tokens.ts";
import { subscribeSafely } from "./request-tokens.ts";

interface UndiciRequest {
  readonly origin: string | URL;
  readonly method: string;
  readonly path: string;
  /** A flat list of names and values; text in older versions. */
  readonly headers?: unknown;
  readonly contentLength?: unknown;
  /** Since 5.28, once its head is being sent. */
  abort?(error: Error): void;
}

const OF_SOCKET: ReadonlySet<unknown> = new Set([
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
]);

const lengthIn = (length: unknown): string | undefined =>
  typeof length === "number" ? String(length) : undefined;

const isOfSocket = (error: unknown): boolean =>
  typeof peek(error, "errno") === "number" || OF_SOCKET.has(peek(error, "code"));

/** Returns a function that tells whether a new HTTP/2 stream belongs to undici and is counted here. */
export function watchUndici({
  bind,
  mayNotLeave,
  watchOf,
  resume,
}: RequestTokens): (method: string, path: string) => boolean {
  let sending: UndiciRequest | undefined;
  const sockets = new WeakMap<UndiciRequest, Duplex>();

  /** Of a request that waits for a connection, neither is there. */
  function tearDown(request: UndiciRequest, error: Error): void {
    if (request.abort) request.abort(error);
    else sockets.get(request)?.destroy(error);
  }

  subscribeSafely<{ request: UndiciRequest }>("undici:request:create", ({ request }) => {
    const { method, origin, path } = request;
    const authorization = () => headerIn(request.headers, "authorization");
    const length = lengthIn(request.contentLength);
    const line = { method, origin: String(origin), target: path, authorization, length };
    const end = (error: Error) => tearDown(request, error);
    const refusal = bind(request, "undici", { ...line, tearDown: end });
    // undici checks this field before it writes the head of the request.
    if (refusal) Object.assign(request, { error: refusal });
  });
  subscribeSafely<{ request: UndiciRequest; headers: unknown; socket: Duplex }>(
    "undici:client:sendHeaders",
    ({ request, headers, socket }) => {
      const refusal = mayNotLeave(request);
      // The head is written right after this, to a socket that takes nothing any more.
      if (refusal) return void socket.destroy(refusal);
      // Over HTTP/2 undici opens the stream right after this, and node:http2 reports it too.
      const isHttp1 = String(headers).startsWith(`${request.method} `);
      sending = isHttp1 ? undefined : request;
      sockets.set(request, socket);
      watchOf(request)?.sent();
    },
  );
  subscribeSafely<{ request: UndiciRequest; response: { statusCode: number; headers: unknown } }>(
    "undici:request:headers",
    ({ request, response }) => {
      watchOf(request)?.answered(response.statusCode, headerIn(response.headers, "location"));
      resume(request);
    },
  );
  // What comes after the head is read in the context of whoever opened the connection: another attempt, maybe over by now.
  for (const channel of ["undici:request:bodyChunkReceived", "undici:request:trailers"]) {
    subscribeSafely<{ request: UndiciRequest }>(channel, ({ request }) => resume(request));
  }
  subscribeSafely<{ request: UndiciRequest; error: unknown }>(
    "undici:request:error",
    ({ request, error }) => {
      watchOf(request)?.failed(error);
      // An abort is published in the context of the code that aborts, which must not change; socket
      // errors are not.
      if (isOfSocket(error)) resume(request);
    },
  );

  return (method, path) => {
    const isOurs = sending?.method === method && sending.path === path;
    sending = undefined;
    return isOurs;
  };
}
