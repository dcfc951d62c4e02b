/**
 * A `fetch` that sends a request once per attempt, whatever retry loop calls it.
 *
 * A repeated request gets the first answer again, so that the loop ends with the service's own
 * answer. Outside an attempt it is the `fetch` it was given.
 *
 * @module
 */

import { isRetryableRead } from "../classify/http.ts";
import { HiddenRetryError } from "../errors.ts";
import { type Kept, keepAnswer, replay } from "./kept-answer.ts";
import { type Identity, identify } from "./request-identity.ts";
import { currentToken, noteRefused, type WireToken } from "./token.ts";

export type Fetch = typeof globalThis.fetch;

/** How the first of several equal requests ended. */
type First =
  | { readonly tag: "done" }
  | { readonly tag: "answered"; readonly kept: Kept }
  | { readonly tag: "failed"; readonly error: unknown };

interface Guarded {
  readonly first: Map<string, Promise<First>>;
  refused: number;
}

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);
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
 */
export function guardedFetch(fetch: Fetch = globalThis.fetch): Fetch {
  return async (input, init) => {
    const token = currentToken();
    const request = token && identify(input, init);
    if (!token || !request) return fetch(input, init);
    const guard = guards.get(token) ?? { first: new Map(), refused: 0 };
    guards.set(token, guard);
    const before = guard.first.get(request.name);
    const first = before && (await standing(before, request));
    if (first) return refuse(first, request, token, guard);
    const sent = fetch(input, init);
    if (before || guard.first.size < MOST_REQUESTS) {
      guard.first.set(request.name, sent.then(keep(request)).catch(failed));
    }
    return sent;
  };
}

/** The first answer, if it still counts: a read that is in progress or answered does not stop another. */
async function standing(before: Promise<First>, { method }: Identity): Promise<First | undefined> {
  if (!SAFE.has(method)) return before;
  const first = await Promise.race([before, undefined]);
  return first?.tag === "done" ? undefined : first;
}

function keep({ method }: Identity): (response: Response) => First {
  return (response) => {
    const isAnswer = SAFE.has(method) ? !isRetryableRead(response.status) : response.ok;
    return isAnswer ? { tag: "done" } : { tag: "answered", kept: keepAnswer(response) };
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
  await new Promise((resolve) => setImmediate(resolve));
  if (first.tag === "failed") throw first.error;
  if (first.tag === "answered" && guard.refused <= MOST_REFUSALS) return replay(first.kept);
  throw new HiddenRetryError(`${method} ${address.origin}${address.path}`);
}
