/**
 * Watches node:http and node:https.
 *
 * @module
 */

import type { ClientRequest, IncomingMessage } from "node:http";
import type { Owners } from "./request-tokens.ts";
import { listen } from "./safe-subscribe.ts";

export function watchHttp({ claim, watchOf }: Owners): void {
  // Not `start`, which waits for the end of the body.
  listen<{ request: ClientRequest }>("http.client.request.created", ({ request }) => {
    const origin = `${request.protocol}//${request.getHeader("host") ?? request.host}`;
    const line = { method: request.method, origin, target: request.path };
    const refusal = claim(request, "http", line);
    if (refusal) request.destroy(refusal);
  });
  listen<{ request: ClientRequest; response: IncomingMessage }>(
    "http.client.response.finish",
    ({ request, response }) => {
      watchOf(request)?.answered(response.statusCode ?? 0, response.headers.location);
    },
  );
  listen<{ request: ClientRequest; error: unknown }>(
    "http.client.request.error",
    ({ request, error }) => watchOf(request)?.failed(error),
  );
}
