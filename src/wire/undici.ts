/**
 * Watches undici: native fetch and the npm package, whatever its version.
 *
 * @module
 */

import { peek } from "../lang/peek.ts";
import { locationIn } from "./redirect.ts";
import type { Owners } from "./request-tokens.ts";
import { listen } from "./safe-subscribe.ts";

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

/** Returns the question whether an HTTP/2 stream that just began is one of undici's, counted here. */
export function watchUndici({
  claim,
  watchOf,
  resume,
}: Owners): (method: string, path: string) => boolean {
  let sending: UndiciRequest | undefined;

  listen<{ request: UndiciRequest }>("undici:request:create", ({ request }) => {
    const { method, origin, path } = request;
    const refusal = claim(request, "undici", { method, origin: String(origin), target: path });
    // What undici looks at when the request's turn comes, before its head is written.
    if (refusal) Object.assign(request, { error: refusal });
  });
  listen<{ request: UndiciRequest; headers: unknown }>(
    "undici:client:sendHeaders",
    ({ request, headers }) => {
      // Over HTTP/2 undici opens the stream in the same breath, and node:http2 reports that too.
      const isHttp1 = String(headers).startsWith(`${request.method} `);
      sending = isHttp1 ? undefined : request;
      watchOf(request)?.sent();
    },
  );
  listen<{ request: UndiciRequest; response: { statusCode: number; headers: unknown } }>(
    "undici:request:headers",
    ({ request, response }) => {
      watchOf(request)?.answered(response.statusCode, locationIn(response.headers));
      resume(request);
    },
  );
  listen<{ request: UndiciRequest; error: unknown }>(
    "undici:request:error",
    ({ request, error }) => {
      watchOf(request)?.failed(error);
      // An abort is published where somebody stands who must stay there; these never are.
      if (isOfSocket(error)) resume(request);
    },
  );

  return (method, path) => {
    const isOurs = sending?.method === method && sending.path === path;
    sending = undefined;
    return isOurs;
  };
}
