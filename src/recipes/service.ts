/**
 * How a recipe reaches a service that has no client here, and the fields of an answer.
 *
 * @module
 */

import type { ToolWithInput } from "../engine/define/definition.ts";
import { typed } from "../engine/define/schema.ts";
import { type HttpToolOptions, httpTool } from "../http-tool/http-tool.ts";
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

/** What a tool of a service has beside how the service is reached: `path`, and the address of `find`, are below its base. */
type ServiceToolOptions<A, I, R> = Omit<
  HttpToolOptions<A, I, R>,
  "input" | "url" | "headers" | "fetch"
> & { readonly path: string };

export interface Service {
  /** A tool that is one request. */
  tool<A, I, R>(options: ServiceToolOptions<A, I, R>): ToolWithInput<A, I, R>;
  /** The answer with a status of 2xx; any other is thrown with its status, its headers and its code. */
  call(request: ServiceRequest, codeOf?: (body: unknown) => unknown): Promise<HttpAnswer>;
}

/** `header` is the one that authorizes; `more` goes with every request, too. */
export function serviceAt(
  access: ServiceAccess,
  usualUrl: string,
  {
    header = "authorization",
    more = {},
  }: { readonly header?: string; readonly more?: Readonly<Record<string, string>> } = {},
): Service {
  const { authorization, baseUrl = usualUrl, fetch } = access;
  const at = (path: string): string => baseUrl.replace(/\/$/, "") + path;
  const headers = async () => ({
    [header]: typeof authorization === "string" ? authorization : await authorization(),
    ...more,
  });
  return {
    tool<A, I, R>({ path, find: given, ...options }: ServiceToolOptions<A, I, R>) {
      const find =
        typeof given === "string" ? at(given) : given && { ...given, url: at(given.url) };
      const input = typed<A>();
      return httpTool<A, R, I>({ ...options, input, url: at(path), headers, fetch, find });
    },
    async call({ method, path, query, json, signal }, codeOf) {
      const url = new URL(at(path));
      for (const [name, value] of Object.entries(query ?? {})) {
        if (value !== undefined) url.searchParams.append(name, value);
      }
      const request = { method, url, headers, body: json, signal };
      return sendRequest(attemptFetch(fetch), request, codeOf);
    },
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
