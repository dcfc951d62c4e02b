/**
 * Observes the requests of node:http2, if this Node has the channels; else they are not counted.
 *
 * @module
 */

import type {
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
  OutgoingHttpHeaders,
} from "node:http2";
import type { RequestTokens } from "./request-tokens.ts";
import { endWith, subscribeSafely } from "./request-tokens.ts";

export function watchHttp2(
  { bind, mayNotLeave, watchOf }: RequestTokens,
  isUndiciStream: (method: string, path: string) => boolean,
): void {
  const started = new WeakSet<object>();
  const waiting = new WeakMap<object, ClientHttp2Stream[]>();

  /** On a session that is still connecting, the head is written once it is connected: asked again, just before. */
  function waitForConnect(stream: ClientHttp2Stream): void {
    const { session } = stream;
    if (!session) return;
    const others = waiting.get(session);
    if (others) return void others.push(stream);
    const streams = [stream];
    waiting.set(session, streams);
    session.prependOnceListener("connect", () => {
      waiting.delete(session);
      for (const one of streams) {
        const refusal = mayNotLeave(one);
        if (refusal) endWith(one, refusal);
      }
    });
  }

  subscribeSafely<{ stream: ClientHttp2Stream; headers: OutgoingHttpHeaders }>(
    "http2.client.stream.created",
    ({ stream, headers: given }) => {
      // Node 22 publishes the headers as the caller gave them, without the host.
      const headers = stream.sentHeaders ?? given;
      const method = String(headers[":method"] ?? "GET");
      const target = String(headers[":path"] ?? "/");
      // Even numbers are streams that the server pushed.
      if (isUndiciStream(method, target) || (stream.id ?? 1) % 2 === 0) return;
      const origin = `${headers[":scheme"]}://${headers[":authority"] ?? headers.host}`;
      const authorization = () => headers.authorization;
      const length = headers["content-length"]?.toString();
      const line = { method, origin, target, authorization, length };
      const refusal = bind(stream, "http2", {
        ...line,
        tearDown(error) {
          // Also one that waits for its turn on a full session: destroyed, it is never sent.
          if (!stream.pending) endWith(stream, error);
        },
      });
      if (refusal) endWith(stream, refusal);
      if (started.has(stream)) watchOf(stream)?.sent();
      else if (watchOf(stream)) waitForConnect(stream);
    },
  );
  // On a session that is already connected, this comes before `created`.
  subscribeSafely<{ stream: ClientHttp2Stream }>("http2.client.stream.start", ({ stream }) => {
    started.add(stream);
    watchOf(stream)?.sent();
  });
  subscribeSafely<{
    stream: ClientHttp2Stream;
    headers: IncomingHttpHeaders & IncomingHttpStatusHeader;
  }>("http2.client.stream.finish", ({ stream, headers }) =>
    watchOf(stream)?.answered(headers[":status"] ?? 0, headers.location),
  );
  subscribeSafely<{ stream: ClientHttp2Stream; error: unknown }>(
    "http2.client.stream.error",
    ({ stream, error }) => watchOf(stream)?.failed(error),
  );
  // A stream may be closed without an answer and without an error.
  subscribeSafely<{ stream: ClientHttp2Stream }>("http2.client.stream.close", ({ stream }) =>
    watchOf(stream)?.failed(undefined),
  );
}
