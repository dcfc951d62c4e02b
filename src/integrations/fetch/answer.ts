/**
 * What the caller of a `fetch` is given: the service's answer wherever there is one, also a no.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import { isKeyError } from "../../classify/key-error.ts";
import type { AnyHoldfireError, OperationFacts } from "../../errors.ts";

/** Read by the SDKs that can be told: holdfire has tried as often as it may. */
const FINAL = { "x-should-retry": "false", "stripe-should-retry": "false" };

/** A result as a `Response` that knows where it came from. */
export function responseOf(result: unknown, url: string): Response {
  const response = isResponse(result) ? result : Response.json(result ?? null);
  return response.url === "" ? withUrl(response, url) : response;
}

export function withUrl(response: Response, url: string): Response {
  Object.defineProperty(response, "url", { value: url, configurable: true });
  return response;
}

/** The same answer, marked as final. */
export function finalOf(response: Response): Response {
  const { status, statusText, body, url, redirected } = response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(FINAL)) headers.set(name, value);
  const marked = withUrl(new Response(body, { status, statusText, headers }), url);
  return Object.defineProperty(marked, "redirected", { value: redirected });
}

/** The service's no to an earlier call: the ledger keeps its status, not its body. */
export const noAgain = (status: number, operation: OperationFacts, reason: string): Response =>
  problem(status, {
    code: "answered_before",
    title: `The service answered ${status} before (${reason}); nothing was sent this time.`,
    operation,
  });

/** In place of an error, for SDKs that would take it for a lost connection. */
export const failureOf = ({ code, message, operation, status }: AnyHoldfireError): Response =>
  problem(status, { code, title: message, operation });

interface Problem {
  readonly code: string;
  readonly title: string;
  readonly operation: OperationFacts | undefined;
}

function problem(status: number, { code, title, operation }: Problem): Response {
  // Stripe's SDK does not look at the status: without `error` it would take this for a success.
  const error = { type: "holdfire", code, message: title };
  const body = JSON.stringify({ type: "about:blank", status, title, code, operation, error });
  const headers = { "content-type": "application/problem+json", ...FINAL };
  return new Response(body, { status, headers });
}

/** The service says that it knows this key from another request. */
export async function isKeyConflict(answer: Response): Promise<boolean> {
  if (answer.status !== 422 && answer.status !== 400) return false;
  try {
    return isKeyError(await answer.clone().json());
  } catch {
    return false;
  }
}
