/**
 * A `fetch` that sends a request once per attempt, whatever retry loop calls it.
 *
 * A request that failed, repeated, gets its first answer or error again, so that the loop ends with the service's own answer; a
 * write that succeeded gets a `HiddenRetryError`, and a read that was answered is sent again. Outside an attempt it is the
 * `fetch` it was given.
 *
 * @module
 */

import { isRetryableRead } from "../classify/http.ts";
import { HiddenRetryError } from "../errors.ts";
import { soon } from "../lang/clock.ts";
import { isSafe } from "./counter.ts";
import { follow, type Outgoing } from "./follow.ts";
import { type Kept, keepAnswer, replay } from "./kept-answer.ts";
import { onOwnConnection } from "./platform-fetch.ts";
import {
  asMade,
  type Body,
  type Identity,
  type Init,
  type Input,
  identify,
} from "./request-identity.ts";
import { currentToken, noteRefused, type WireToken } from "./token.ts";

export type Fetch = typeof globalThis.fetch;

/** How the first of several equal requests ended. */
type First =
  | { readonly tag: "done" }
  | {
      readonly tag: "answered";
      readonly kept: Kept;
      readonly authorization: string | undefined;
    }
  | { readonly tag: "failed"; readonly error: unknown };

interface Guarded {
  readonly first: Map<string, Promise<First>>;
  readonly loggedIn: Set<string>;
  refused: number;
}

const MOST_REQUESTS = 256;
/** A loop that goes on after this many replayed answers does not end by itself. */
const MOST_REFUSALS = 16;

const guards = new WeakMap<WireToken, Guarded>();

/**
 * Guards a `fetch`, for any SDK that takes one: `new OpenAI({ fetch: guardedFetch() })`.
 *
 * Inside an attempt, a second request with the same method, URL and body is not sent: it gets the
 * first answer, or the first error. A write that succeeded gets a `HiddenRetryError`; a read that
 * was answered may be sent again, since that is polling. Another body is another request. A body
 * that cannot be compared (a stream, a form) is only counted.
 *
 * A redirect to another origin gets neither the key nor any other header of yours, and a write is not
 * redirected there at all: it fails with a `TypeError` that has the `status`.
 */
export function guardedFetch(fetch: Fetch = globalThis.fetch): Fetch {
  return async (input, init) => {
    const token = currentToken();
    return token ? fetchUnder(token, fetch, input, init, false) : fetch(input, init);
  };
}

/** As `guardedFetch`, under this token, whatever the async context says. `isEffect`: also a GET is a write. */
export async function fetchUnder(
  token: WireToken,
  fetch: Fetch,
  givenInput: Input,
  givenInit: Init,
  isEffect: boolean,
): Promise<Response> {
  const [input, init] = asMade(givenInput, givenInit);
  const request = identify(input, init);
  const send = () => sendWithinOrigin(fetch, input, init, isEffect);
  if (!request) return send();
  const isRead = isSafe(request.method) && !isEffect;
  const guard = guards.get(token) ?? { first: new Map(), loggedIn: new Set(), refused: 0 };
  guards.set(token, guard);
  const before = guard.first.get(request.name);
  const first = before && (await firstThatCounts(before, isRead));
  if (first && !grantLogin(first, guard, request)) {
    return refuse(first, request, token, guard);
  }
  const sent = send();
  if (before || guard.first.size < MOST_REQUESTS) {
    guard.first.set(request.name, sent.then(keep(request, isRead)).catch(failed));
  }
  return sent;
}

/** After a 401 or 407 the same request may be sent once more, with other credentials: says so once. */
function grantLogin(first: First, guard: Guarded, { name, authorization }: Identity): boolean {
  if (first.tag !== "answered") return false;
  const { status } = first.kept.response;
  if ((status !== 401 && status !== 407) || guard.loggedIn.has(name)) return false;
  if (first.authorization === authorization) return false;
  guard.loggedIn.add(name);
  return true;
}

/** The first answer, if it still counts: a read that is in progress or answered does not stop another. */
async function firstThatCounts(
  before: Promise<First>,
  isRead: boolean,
): Promise<First | undefined> {
  if (!isRead) return before;
  const first = await Promise.race([before, undefined]);
  return first?.tag === "done" ? undefined : first;
}

function keep({ authorization }: Identity, isRead: boolean): (response: Response) => First {
  return (response) => {
    const isAnswer = isRead ? !isRetryableRead(response.status) : response.ok;
    if (isAnswer) return { tag: "done" };
    return { tag: "answered", kept: keepAnswer(response), authorization };
  };
}

const failed = (error: unknown): First => ({ tag: "failed", error });

async function refuse(
  first: First,
  { method, address }: Identity,
  token: WireToken,
  guard: Guarded,
): Promise<Response> {
  guard.refused += 1;
  noteRefused(token, { method, address });
  // A loop without pauses must let timers run, else nothing could stop it.
  await new Promise((resolve) => soon(resolve));
  if (first.tag === "failed") throw first.error;
  if (first.tag === "answered" && guard.refused <= MOST_REFUSALS) return replay(first.kept);
  throw new HiddenRetryError(`${method} ${address.origin}${address.path}`);
}

/** The text of the last answer with this failure status that came through a guarded `fetch`, as far as it was kept. */
export async function failedBody(token: WireToken, status: number): Promise<string | undefined> {
  const firsts = await Promise.all(guards.get(token)?.first.values() ?? []);
  const last = firsts.findLast(
    (first) => first.tag === "answered" && first.kept.response.status === status,
  );
  return last?.tag === "answered" ? new TextDecoder().decode(await last.kept.body) : undefined;
}

/** As `fetch`, but redirects are followed by our rules: the platform would tell the key to any origin. */
async function sendWithinOrigin(
  fetch: Fetch,
  input: Input,
  given: Init,
  isEffect: boolean,
): Promise<Response> {
  const request = typeof input === "string" || input instanceof URL ? undefined : input;
  const url = URL.parse(request?.url ?? String(input));
  const method = (given?.method ?? request?.method ?? "GET").toUpperCase();
  const init = onOwnConnection(!isSafe(method) || isEffect, given);
  const mode = init?.redirect ?? request?.redirect ?? "follow";
  if (mode !== "follow" || !url) return fetch(input, init);
  // The first send uses up the body of a `Request`.
  const copy = request?.body && !init?.body && !request.bodyUsed ? request.clone() : undefined;
  const first: Outgoing<Body> = {
    method,
    url: url.href,
    headers: new Headers(init?.headers ?? request?.headers),
    body: init?.body ?? copy?.body ?? undefined,
  };
  const signal = init?.signal === undefined ? request?.signal : init.signal;
  const send = async (outgoing: Outgoing<Body>): Promise<Response> => {
    if (outgoing === first) return fetch(input, { ...init, redirect: "manual" });
    const { method, headers } = outgoing;
    const body = outgoing.body && (await bodyAgain(outgoing.body, copy));
    const rest = { ...init, method, headers, signal: signal ?? null, redirect: "manual" } as const;
    return fetch(outgoing.url, { ...rest, body: body ?? null });
  };
  try {
    const { response, refusal } = await follow(first, mode, undefined, send);
    if (refusal) throw refusal;
    return response;
  } finally {
    // A copy that is not read would keep what the first send reads.
    if (copy && !copy.bodyUsed) copy.body?.cancel().catch(() => {});
  }
}

/** What the platform itself can send only once is not sent again. */
async function bodyAgain(body: Body, copy: Request | undefined): Promise<Body> {
  if (copy && body === copy.body && !copy.bodyUsed) return copy.arrayBuffer();
  if (!(Symbol.asyncIterator in Object(body))) return body;
  throw new TypeError("A redirect was not followed: the body is a stream and is used up.");
}
