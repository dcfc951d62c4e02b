/**
 * One request to a service that has no client here, by `fetch`: never followed elsewhere, never repeated,
 * its answer read up to a limit, and the fields of that answer.
 *
 * @module
 */

import { peek, peekItems } from "../lang/peek.ts";
import { attemptFetch } from "../wire/bound-fetch.ts";

/** The platform's `fetch`, or one of yours. */
export type ServiceFetch = typeof globalThis.fetch;

/** How a recipe without a client reaches its service. */
export interface ServiceAccess {
  /** The value of the Authorization header, e.g. `Bearer …`; a function is asked for every request. */
  readonly authorization: string | (() => string | Promise<string>);
  /** Where the service is. @default its public address */
  readonly baseUrl?: string | undefined;
  /** @default the platform's */
  readonly fetch?: ServiceFetch | undefined;
}

export interface ServiceRequest {
  readonly method: "GET" | "POST";
  /** Below the base, with what comes from a caller encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
}

export interface ServiceAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** `undefined` where there is none, or it is no JSON. */
  readonly body: unknown;
}

const MOST_BYTES = 8 * 1024 * 1024;

/** The answer with a status of 2xx; any other is thrown with its status, its headers and its code. */
export async function callService(
  access: ServiceAccess,
  usualUrl: string,
  request: ServiceRequest,
  codeOf: (body: unknown) => unknown = () => undefined,
): Promise<ServiceAnswer> {
  const { authorization, baseUrl = usualUrl } = access;
  const url = new URL(baseUrl.replace(/\/$/, "") + request.path);
  for (const [name, value] of entries(request.query)) url.searchParams.append(name, value);
  const body = bodyOf(request);
  const headers = {
    accept: "application/json",
    ...(body && { "content-type": body.type }),
    ...request.headers,
    authorization: typeof authorization === "string" ? authorization : await authorization(),
  };
  const response = await attemptFetch(access.fetch)(url, {
    method: request.method,
    // A token goes where it was meant to go.
    redirect: "manual",
    signal: request.signal,
    headers,
    ...(body && { body: body.text }),
  });
  const { status } = response;
  const answer = { status, headers: response.headers, body: parse(await readText(response)) };
  if (!response.ok) throw answerError(answer, codeOf(answer.body));
  return answer;
}

/** An answer that is no success, as an error with its status and code, without its text. */
export function answerError({ status, headers }: ServiceAnswer, code: unknown): Error {
  const said = typeof code === "string" || typeof code === "number" ? `${code}`.slice(0, 64) : "";
  const error = new Error(`The service answered ${status}${said && ` (${said})`}.`);
  return Object.assign(error, { status, headers, ...(said && { code: said }) });
}

const entries = (
  those: Readonly<Record<string, string | undefined>> = {},
): (readonly [string, string])[] =>
  Object.entries(those).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

function bodyOf({ json, form }: ServiceRequest): { type: string; text: string } | undefined {
  if (form) {
    const text = new URLSearchParams();
    for (const [name, value] of entries(form)) text.append(name, value);
    return { type: "application/x-www-form-urlencoded", text: `${text}` };
  }
  if (json === undefined) return undefined;
  return { type: "application/json; charset=utf-8", text: JSON.stringify(json) };
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MOST_BYTES) throw new Error("The service's answer is too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** More than any page that is asked for. */
const MOST_ITEMS = 1_000;

/** A text or a number of the answer, as text. */
export function textAt(value: unknown, name: string): string {
  const found = peek(value, name);
  if (typeof found === "string" || typeof found === "number") return `${found}`;
  throw new Error(`The service's answer has no "${name}".`);
}

/** A number of the answer. */
export function numberAt(value: unknown, name: string): number {
  const found = peek(value, name);
  if (typeof found === "number") return found;
  throw new Error(`The service's answer has no "${name}".`);
}

/** A text where it may be missing. */
export function maybeTextAt(value: unknown, name: string): string | undefined {
  const found = peek(value, name);
  return typeof found === "string" ? found : undefined;
}

/** A list of the answer. A list that is not there is not an empty one. */
export const listAt = (value: unknown, name: string): readonly unknown[] =>
  listOf(peek(value, name), name);

export function listOf(found: unknown, name = "list"): readonly unknown[] {
  if (!Array.isArray(found)) throw new Error(`The service's answer has no "${name}".`);
  return peekItems(found, MOST_ITEMS);
}
