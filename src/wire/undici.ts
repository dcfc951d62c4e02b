/**
 * Observes undici: native fetch and every version of the npm package.
 *
 * @module
 */

import { peek } from "../lang/peek.ts";
import { locationIn } from "./redirect.ts";
import type { RequestTokens } from "./request-tokens.ts";
import { subscribeSafely } from "./request-tokens.ts";

interface UndiciRequest {
  readonly origin: string | URL;
  readonly method: string;
  readonly path: string;
}

const OF_SOCKET: ReadonlySet<unknown> = new Set([
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
]);

const isOfSocket = (error: unknown): boolean =>
  typeof peek(error, "errno") === "number" || OF_SOCKET.has(peek(error, "code"));

/** Returns a function that tells whether a new HTTP/2 stream belongs to undici and is counted here. */
export function watchUndici({
  bind,
  watchOf,
  resume,
}: RequestTokens): (method: string, path: string) => boolean {
  let sending: UndiciRequest | undefined;

  subscribeSafely<{ request: UndiciRequest }>("undici:request:create", ({ request }) => {
    const { method, origin, path } = request;
    const refusal = bind(request, "undici", { method, origin: String(origin), target: path });
    // undici checks this field before it writes the head of the request.
    if (refusal) Object.assign(request, { error: refusal });
  });
  subscribeSafely<{ request: UndiciRequest; headers: unknown }>(
    "undici:client:sendHeaders",
    ({ request, headers }) => {
      // Over HTTP/2 undici opens the stream right after this, and node:http2 reports it too.
      const isHttp1 = String(headers).startsWith(`${request.method} `);
      sending = isHttp1 ? undefined : request;
      watchOf(request)?.sent();
    },
  );
  subscribeSafely<{ request: UndiciRequest; response: { statusCode: number; headers: unknown } }>(
    "undici:request:headers",
    ({ request, response }) => {
      watchOf(request)?.answered(response.statusCode, locationIn(response.headers));
      resume(request);
    },
  );
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
