/**
 * One HTTP request of a tool: its answer read up to a limit, taken as JSON, and thrown where it is no success.
 *
 * @module
 */

import { peek, tryCall } from "../lang/peek.ts";

/** What a service answered. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON of the answer; `undefined` where there is none, or it is no JSON. */
  readonly body: unknown;
}

export type HeaderValues = Readonly<Record<string, string | undefined>>;

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** A function is asked for every request. */
  readonly headers: HeaderValues | (() => HeaderValues | Promise<HeaderValues>);
  /** A header of our own, which takes the place of a given one. */
  readonly ownHeader?: HeaderValues | undefined;
  /** Sent as JSON; a `URLSearchParams` as a form, a string as it is. `undefined`: no body. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

const MOST_BYTES = 8 * 1024 * 1024;

/** The answer with a status of 2xx; any other is thrown. Bound to an attempt, `fetch` sends it once. */
export async function sendRequest(
  fetch: typeof globalThis.fetch,
  { method, url, headers, ownHeader, body, signal }: HttpRequest,
  codeOf: (body: unknown) => unknown = usualCode,
): Promise<HttpAnswer> {
  // Before anything is awaited: the object may be the program's own, which it fills again for its next call.
  const { sent, type } = contentOf(body);
  const given = new Headers({ accept: "application/json", ...type });
  const values = { ...(typeof headers === "function" ? await headers() : headers), ...ownHeader };
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) given.set(name, value);
  }
  const content = sent === undefined ? {} : { body: sent };
  const response = await fetch(url, { method, signal, headers: given, ...content });
  const answer = { status: response.status, headers: response.headers, body: await read(response) };
  if (!response.ok) throw new HttpAnswerError(answer, codeOf(answer.body));
  return answer;
}

interface Content {
  readonly sent?: string | URLSearchParams;
  /** As a header. Of a text and a form `fetch` says it. */
  readonly type?: { readonly "content-type": string };
}

/** What is sent, as it is now. */
function contentOf(body: unknown): Content {
  if (body === undefined) return {};
  if (typeof body === "string") return { sent: body };
  if (body instanceof URLSearchParams) return { sent: new URLSearchParams(body) };
  const type = { "content-type": "application/json; charset=utf-8" };
  return { sent: stableJson(body), type };
}

/** With the names of objects in order: a repeated request has the same bytes, which some services compare. */
const stableJson = (body: unknown): string =>
  JSON.stringify(body, function (this: unknown, name, value: unknown) {
    checkJson(peek(this, name));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  });

/** What JSON would send as `{}`, or byte by byte. Nothing was sent yet. */
function checkJson(value: unknown): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const isData = [FormData, Blob, ArrayBuffer, Map, Set].some((type) => value instanceof type);
  if (!isData && !ArrayBuffer.isView(value) && !(Symbol.asyncIterator in value)) return;
  throw new TypeError(
    "A body must be JSON, a URLSearchParams or a string. To send a form with files, bytes or a stream, write `run` with `context.fetch`.",
  );
}

/** The service answered, and not with a success. Its headers and its body are not enumerable, so not in logs. */
export class HttpAnswerError extends Error {
  override readonly name = "HttpAnswerError";
  readonly status: number;
  /** The service's own name of the error, e.g. `card_declined`. */
  readonly code?: string;
  declare readonly headers: Headers;
  declare readonly body: unknown;

  constructor({ status, headers, body }: HttpAnswer, code: unknown = usualCode(body)) {
    const named =
      typeof code === "string" || typeof code === "number" ? `${code}`.slice(0, 64) : "";
    super(`The service answered ${status}${named && ` (${named})`}.`);
    this.status = status;
    if (named) this.code = named;
    Object.defineProperty(this, "headers", { value: headers, enumerable: false });
    Object.defineProperty(this, "body", { value: body, enumerable: false });
  }
}

/** Where services put the name of an error. What they say of it to people is found in `body`, where it is told. */
const holders = (body: unknown): readonly unknown[] => [
  peek(body, "error"),
  peek(peek(body, "errors"), 0),
  peek(body, 0),
  body,
];
const CODES = ["code", "error_code", "errorCode", "name", "type"];

const usualCode = (body: unknown): unknown =>
  [
    peek(body, "error"),
    ...holders(body).flatMap((holder) => CODES.map((name) => peek(holder, name))),
  ].find(
    (code) => (typeof code === "string" && /^[\w.-]{1,64}$/.test(code)) || typeof code === "number",
  );

async function read(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MOST_BYTES) throw new Error("The service's answer is too large.");
    chunks.push(chunk);
  }
  return tryCall(JSON, "parse", Buffer.concat(chunks).toString("utf8"));
}
