/**
 * Observes the requests of node:http and node:https.
 *
 * @module
 */

import type { ClientRequest, IncomingMessage } from "node:http";
import type { RequestTokens } from "./request-tokens.ts";
import { endWith, subscribeSafely } from "./request-tokens.ts";

export function watchHttp({ bind, mayNotLeave, watchOf }: RequestTokens): void {
  // Not `start`, which is published only after the body was written.
  subscribeSafely<{ request: ClientRequest }>("http.client.request.created", ({ request }) => {
    const origin = `${request.protocol}//${request.getHeader("host") ?? request.host}`;
    const authorization = () => text(request.getHeader("authorization"));
    const length = text(request.getHeader("content-length"));
    const line = { method: request.method, origin, target: request.path, authorization, length };
    const refusal = bind(request, "http", {
      ...line,
      tearDown(error) {
        if (request.socket && !request.socket.connecting) endWith(request, error);
      },
    });
    const watch = watchOf(request);
    if (refusal) endWith(request, refusal);
    if (!watch) return;
    beforeHead(request, () => mayNotLeave(request));
    // One that is aborted before it has a socket is closed without an error.
    request.once("close", () => watch.failed(undefined));
  });
  subscribeSafely<{ request: ClientRequest; response: IncomingMessage }>(
    "http.client.response.finish",
    ({ request, response }) => {
      watchOf(request)?.answered(response.statusCode ?? 0, response.headers.location);
    },
  );
  subscribeSafely<{ request: ClientRequest; error: unknown }>(
    "http.client.request.error",
    ({ request, error }) => watchOf(request)?.failed(error),
  );
}

const text = (header: unknown): string | undefined =>
  header === undefined ? undefined : String(header);

/** The head is written when its socket is there and connected. */
function beforeHead(request: ClientRequest, mayNotLeave: () => Error | undefined): void {
  const check = () => {
    const refusal = mayNotLeave();
    if (refusal) endWith(request, refusal);
  };
  request.once("socket", (socket) => {
    check();
    if (socket.connecting) {
      socket.prependOnceListener("encrypted" in socket ? "secureConnect" : "connect", check);
    }
  });
}
