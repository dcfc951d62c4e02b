/**
 * How a recipe reaches a service that has no client here, and the fields of an answer.
 *
 * @module
 */

import { type HttpAnswer, sendRequest } from "../http-tool/request.ts";
import { peek, peekItems } from "../lang/peek.ts";
import { attemptFetch } from "../wire/bound-fetch.ts";

/** The platform's `fetch`, or one of yours. */
export type ServiceFetch = typeof globalThis.fetch;

/** How a recipe without a client reaches its service. */
export interface ServiceAccess {
  /**
   * The value of the Authorization header, e.g. `Bearer …`, or of the header that the recipe names; a function is asked for every
   * request.
   */
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
  readonly signal: AbortSignal;
}

/** The answer with a status of 2xx; any other is thrown with its status, its headers and its code. */
export async function callService(
  access: ServiceAccess,
  usualUrl: string,
  { method, path, query, json, signal }: ServiceRequest,
  codeOf?: (body: unknown) => unknown,
): Promise<HttpAnswer> {
  const at = requestsTo(access, usualUrl);
  const url = new URL(at.url(path));
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) url.searchParams.append(name, value);
  }
  const request = { method, url, headers: await at.headers(), body: json, signal };
  return sendRequest(attemptFetch(access.fetch), request, codeOf);
}

/** What `httpTool` needs to know of how a service is reached. */
export interface Requests {
  /** The address of a path. */
  readonly url: (path: string) => string;
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  readonly fetch: ServiceFetch | undefined;
}

export function requestsTo(
  access: ServiceAccess,
  usualUrl: string,
  header = "authorization",
): Requests {
  const { authorization, baseUrl = usualUrl, fetch } = access;
  return {
    url: (path) => baseUrl.replace(/\/$/, "") + path,
    headers: async () => ({
      [header]: typeof authorization === "string" ? authorization : await authorization(),
    }),
    fetch,
  };
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
