/**
 * What an owned call throws is the client's own error, marked as final in the terms of the loops that may stand around it:
 * they ask such a mark before they call again, and holdfire has tried.
 *
 * @module
 */

import { peek } from "../../../lang/peek.ts";

/** LangChain's own stamp, which `modelRetryMiddleware` asks. */
const RETRYABLE = Symbol.for("langchain.errors.retryable");

/** Returns the same error. One that is frozen stays as it is: the loop outside goes on, and is counted. */
export function finalError(error: unknown): unknown {
  if (typeof error !== "object" || error === null) return error;
  // The AI SDK's.
  if (peek(error, "isRetryable") === true) mark(error, "isRetryable", false);
  mark(error, RETRYABLE, false);
  // What a model of the agents SDK advises its runner by.
  mark(error, "unsafeToReplay", true);
  return error;
}

function mark(error: object, name: PropertyKey, value: boolean): void {
  try {
    Reflect.defineProperty(error, name, { value, configurable: true });
  } catch {
    // A proxy that does not let itself be marked.
  }
}
