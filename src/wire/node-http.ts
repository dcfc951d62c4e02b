/**
 * Observes the requests of node:http and node:https.
 *
 * @module
 */

import type { ClientRequest, IncomingMessage } from "node:http";
import type { RequestTokens } from "./request-tokens.ts";
import { subscribeSafely } from "./request-tokens.ts";

export function watchHttp({ bind, watchOf }: RequestTokens): void {
  // Not `start`, which is published only after the body was written.
  subscribeSafely<{ request: ClientRequest }>("http.client.request.created", ({ request }) => {
    const origin = `${request.protocol}//${request.getHeader("host") ?? request.host}`;
    const line = { method: request.method, origin, target: request.path };
    const refusal = bind(request, "http", line);
    if (refusal) request.destroy(refusal);
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
