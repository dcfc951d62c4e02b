/**
 * Watches node:http2, where this Node has the channels; elsewhere its requests stay uncounted.
 *
 * @module
 */

import type {
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
  OutgoingHttpHeaders,
} from "node:http2";
import type { Owners } from "./request-tokens.ts";
import { listen } from "./safe-subscribe.ts";

export function watchHttp2(
  { claim, watchOf }: Owners,
  isUndiciStream: (method: string, path: string) => boolean,
): void {
  const started = new WeakSet<object>();

  listen<{ stream: ClientHttp2Stream; headers: OutgoingHttpHeaders }>(
    "http2.client.stream.created",
    ({ stream, headers: given }) => {
      // Node 22 publishes the headers as the caller gave them, without the host.
      const headers = stream.sentHeaders ?? given;
      const method = String(headers[":method"] ?? "GET");
      const target = String(headers[":path"] ?? "/");
      // Even numbers are streams the server pushed.
      if (isUndiciStream(method, target) || (stream.id ?? 1) % 2 === 0) return;
      const origin = `${headers[":scheme"]}://${headers[":authority"] ?? headers.host}`;
      const refusal = claim(stream, "http2", { method, origin, target });
      if (refusal) stream.destroy(refusal);
      if (started.has(stream)) watchOf(stream)?.sent();
    },
  );
  // On a session that is connected already, this comes before `created`.
  listen<{ stream: ClientHttp2Stream }>("http2.client.stream.start", ({ stream }) => {
    started.add(stream);
    watchOf(stream)?.sent();
  });
  listen<{ stream: ClientHttp2Stream; headers: IncomingHttpHeaders & IncomingHttpStatusHeader }>(
    "http2.client.stream.finish",
    ({ stream, headers }) => watchOf(stream)?.answered(headers[":status"] ?? 0, headers.location),
  );
  listen<{ stream: ClientHttp2Stream; error: unknown }>(
    "http2.client.stream.error",
    ({ stream, error }) => watchOf(stream)?.failed(error),
  );
}
