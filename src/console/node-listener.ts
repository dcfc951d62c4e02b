/**
 * Lets a server of `node:http`, or Express, answer by a handler that takes a `Request` and returns a `Response`.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";

/** Express keeps the whole path in `originalUrl`, and cuts `url` where the handler is mounted. */
type Incoming = IncomingMessage & { readonly originalUrl?: string };

/** Not for HTTP/2. A body that was read before, by `express.json()` or the like, is gone: mount it before that. */
export function nodeListener(
  handler: (request: Request) => Promise<Response>,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) => {
    const left = new AbortController();
    outgoing.once("close", () => left.abort());
    answer(handler, incoming, outgoing, left.signal).catch(() => outgoing.destroy());
  };
}

async function answer(
  handler: (request: Request) => Promise<Response>,
  incoming: Incoming,
  outgoing: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const request = requestOf(incoming, signal);
  if (!request) {
    outgoing.writeHead(400).end();
    return;
  }
  const { status, headers, body } = await handler(request);
  outgoing.writeHead(status, Object.fromEntries(headers));
  if (!body) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  const reader = body.getReader();
  signal.addEventListener("abort", () => void reader.cancel().catch(() => {}), { once: true });
  for (let part = await reader.read(); !part.done && !signal.aborted; part = await reader.read()) {
    const hasRoom = outgoing.write(part.value);
    if (!hasRoom) await new Promise<void>((resolve) => whenWritable(outgoing, signal, resolve));
  }
  outgoing.end();
}

function whenWritable(outgoing: ServerResponse, signal: AbortSignal, go: () => void): void {
  outgoing.once("drain", go);
  signal.addEventListener("abort", go, { once: true });
}

/** `undefined` if it cannot be a request: no host, or an address that is none. */
function requestOf(incoming: Incoming, signal: AbortSignal): Request | undefined {
  const { method = "GET", headers, originalUrl, url = "/" } = incoming;
  const isSecure = "encrypted" in incoming.socket;
  const path = originalUrl ?? url;
  // A path that is a whole address would name another host than the header does.
  const whole = path.startsWith("/")
    ? `${isSecure ? "https" : "http"}://${headers.host}${path}`
    : "";
  const address = headers.host === undefined ? null : URL.parse(whole);
  if (!address || address.host !== headers.host?.toLowerCase()) return undefined;
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value ?? []].flat()) copied.append(name, each);
  }
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(address, {
    method,
    headers: copied,
    signal,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" }),
  } as RequestInit);
}
