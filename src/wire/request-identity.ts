/**
 * A request as it was made, and whether two of them are equal to the guard: by method, URL, body and idempotency key.
 * Other headers are ignored: a retry counter or a new trace id does not make it another request.
 *
 * @module
 */

import { hash } from "node:crypto";
import { type Address, locate } from "./redirect.ts";

export interface Identity {
  readonly method: string;
  readonly address: Address;
  /** Equal for equal requests; contains no content. */
  readonly name: string;
  /** The body, where it is text. */
  readonly text: string | undefined;
  /** Tells its body from another. */
  readonly digest: string;
  readonly authorization: string | undefined;
}

export type Input = Parameters<typeof globalThis.fetch>[0];
export type Init = Parameters<typeof globalThis.fetch>[1];
export type Body = NonNullable<RequestInit["body"]>;
type HeadersGiven = NonNullable<RequestInit["headers"]>;

/**
 * The request as it is now. It is read again later, at a redirect or once an equal request is answered, and its caller may
 * have used the buffer, the form or the headers for the next one by then.
 */
export function asMade(input: Input, init: Init): readonly [Input, Init] {
  // Of a `Request` only the headers can be changed.
  const request = typeof input === "string" || input instanceof URL ? undefined : input;
  const own = membersOf(init);
  const headers = own.headers ?? request?.headers;
  if (headers) own.headers = ownHeaders(headers);
  if (own.body) own.body = ownBody(own.body);
  return [input instanceof URL ? new URL(input) : input, init || headers ? own : undefined];
}

/** What `fetch` asks of its options by name, and so also of accessors that a class hides from a loop over the names. */
const ASKED_BY_NAME: readonly string[] = [
  "method",
  "headers",
  "body",
  "referrer",
  "referrerPolicy",
  "mode",
  "credentials",
  "cache",
  "redirect",
  "integrity",
  "keepalive",
  "signal",
  "window",
  "duplex",
  "dispatcher",
  "priority",
];

/**
 * The options, as `fetch` reads them, in an object like any other: what is inherited counts, as of a `Request` that is given in
 * their place.
 */
export function membersOf(init: Init): RequestInit {
  const given = Object(init ?? {}) as Readonly<Record<string, unknown>>;
  const names = new Set(ASKED_BY_NAME.filter((name) => name in given));
  for (const name in given) names.add(name);
  return Object.fromEntries([...names].map((name) => [name, given[name]]));
}

/** A copy of what can be changed. Text and a `Blob` cannot, and a stream is sent once. */
function ownBody(body: Body): Body {
  if (body instanceof URLSearchParams) return new URLSearchParams(body);
  if (body instanceof ArrayBuffer) return body.slice(0);
  if (ArrayBuffer.isView(body)) {
    // Not a `Buffer`: its memory may be shared with other requests, and a stand-in may read all of it.
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
  }
  if (!(body instanceof FormData)) return body;
  const form = new FormData();
  for (const [name, value] of body) form.append(name, value);
  return form;
}

function ownHeaders(headers: HeadersGiven): HeadersGiven {
  if (headers instanceof Headers) return new Headers(headers);
  if (!(Symbol.iterator in headers)) return { ...headers };
  return Array.from(headers as Iterable<[string, string]>, (row) => [...row]);
}

/** `undefined` if it cannot be compared, e.g. because its body is a stream. */
export function identify(input: Input, init: Init): Identity | undefined {
  const request = typeof input === "string" || input instanceof URL ? undefined : input;
  const print = fingerprint(init?.body ?? request?.body);
  const url = URL.parse(request?.url ?? String(input));
  if (print === undefined || !url) return undefined;
  const method = (init?.method ?? request?.method ?? "GET").toUpperCase();
  const address = locate(url.origin, url.href);
  const header = headersIn(init?.headers ?? request?.headers);
  // Another key is another operation's request, which a shared queue has sent under this attempt.
  const key = header("idempotency-key") ?? "";
  const authorization = header("authorization");
  const body = init?.body ?? request?.body;
  const text = typeof body === "string" ? body : undefined;
  const name = `${method} ${address.href} ${key} ${print}`;
  return { method, address, text, digest: print, authorization, name };
}

function headersIn(headers: RequestInit["headers"]): (name: string) => string | undefined {
  try {
    const all = new Headers(headers);
    return (name) => all.get(name) ?? undefined;
  } catch {
    return () => undefined;
  }
}

function fingerprint(body: unknown): string | undefined {
  if (body === undefined || body === null) return "";
  if (typeof body === "string") return hash("sha256", body, "base64");
  if (body instanceof URLSearchParams) return hash("sha256", String(body), "base64");
  if (body instanceof ArrayBuffer) return hash("sha256", new Uint8Array(body), "base64");
  if (!ArrayBuffer.isView(body)) return undefined;
  const { buffer, byteOffset, byteLength } = body;
  return hash("sha256", new Uint8Array(buffer, byteOffset, byteLength), "base64");
}
