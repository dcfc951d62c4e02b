/**
 * Follows redirects by rules of our own: a write never leaves its origin, and neither does a secret.
 *
 * The platform takes `authorization` and cookies off at another origin, but it sends the body and every
 * other header there, the key included.
 *
 * @module
 */

import { isSafe } from "./counter.ts";
import { redirectTarget } from "./redirect.ts";

export interface Outgoing<B = Uint8Array<ArrayBuffer>> {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: B | undefined;
}

export interface Followed {
  readonly response: Response;
  /** Why the redirect that `response` is was not followed. */
  readonly refusal?: Error | undefined;
}

export type Send<B = Uint8Array<ArrayBuffer>> = (outgoing: Outgoing<B>) => Promise<Response>;

const MOST_HOPS = 20;

/** All that another origin gets to see: what to send, and nothing of who asks. */
const HARMLESS = [
  "accept",
  "accept-encoding",
  "accept-language",
  "cache-control",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "range",
  "user-agent",
];
const OF_THE_BODY = [
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-type",
];

/** `keyHeader` is taken off a hop that no longer writes, also within its origin. */
export async function follow<B>(
  first: Outgoing<B>,
  mode: Request["redirect"],
  keyHeader: string | undefined,
  send: Send<B>,
): Promise<Followed> {
  const been = new Set<string>();
  let outgoing = first;
  for (;;) {
    been.add(`${outgoing.method} ${outgoing.url}`);
    const response = await send(outgoing);
    const location = response.headers.get("location") ?? undefined;
    const target = redirectTarget(outgoing.url, response.status, location);
    if (target === undefined || mode === "manual") {
      if (been.size > 1) Object.defineProperty(response, "redirected", { value: true });
      return { response };
    }
    const refuse = (why: string): Followed => ({
      response,
      refusal: refusalOf(outgoing, response.status, target, why),
    });
    if (mode === "error") return refuse('redirect is "error"');
    const next = hop(outgoing, response.status, new URL(target), keyHeader);
    if (!next) return refuse("the method, the key and the body stay at their origin");
    if (been.has(`${next.method} ${next.url}`)) return refuse("it leads back");
    if (been.size > MOST_HOPS) return refuse(`it is one of more than ${MOST_HOPS}`);
    response.body?.cancel().catch(() => {});
    outgoing = next;
  }
}

/** The next request, or none where it would carry a write to another origin. */
function hop<B>(
  from: Outgoing<B>,
  status: number,
  to: URL,
  keyHeader: string | undefined,
): Outgoing<B> | undefined {
  if (to.protocol !== "http:" && to.protocol !== "https:") return undefined;
  const becomesGet = turnsToGet(status, from.method);
  const isHome = to.origin === new URL(from.url).origin;
  if (!isHome && !becomesGet && (!isSafe(from.method) || from.body)) return undefined;
  const headers = isHome ? new Headers(from.headers) : harmless(from.headers);
  if (!becomesGet) return { ...from, url: to.href, headers };
  for (const name of OF_THE_BODY) headers.delete(name);
  if (keyHeader !== undefined) headers.delete(keyHeader);
  return { method: "GET", url: to.href, headers, body: undefined };
}

const turnsToGet = (status: number, method: string): boolean =>
  status === 303
    ? method !== "GET" && method !== "HEAD"
    : (status === 301 || status === 302) && method === "POST";

function harmless(headers: Headers): Headers {
  const kept = new Headers();
  for (const name of HARMLESS) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept;
}

/** Carries the status, by which it is judged: that a service sends us elsewhere proves nothing. */
function refusalOf(from: Outgoing<unknown>, status: number, target: string, why: string): Error {
  const { origin, pathname } = new URL(from.url);
  const to = new URL(target);
  const asked = `${from.method} ${origin}${pathname}`;
  const message = `${asked} was redirected (${status}) to ${to.origin}; not followed: ${why}.`;
  return Object.assign(new TypeError(message), { status });
}
