/**
 * Gives a framework's own function what an attempt has, beside what the framework gives it.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { AttemptContext } from "../../../engine/define/definition.ts";
import { InvalidInputError } from "../../../errors.ts";
import { peek } from "../../../lang/peek.ts";

const ATTEMPT = Symbol.for("holdfire.attempt");

/**
 * A copy of the framework's context with the attempt's signal under the framework's name for it, and with
 * `key` and `attempt`. They are not enumerable: a function that copies its context has not taken the key.
 */
export function withAttempt(
  context: unknown,
  attempt: AttemptContext,
  signalName: string,
): Record<PropertyKey, unknown> {
  const given = Object.getOwnPropertyDescriptors(Object(context ?? {}));
  const copy = Object.create(Object.getPrototypeOf(Object(context ?? {})), given);
  return Object.defineProperties(copy, {
    [signalName]: { value: attempt.signal, enumerable: true, configurable: true, writable: true },
    key: { get: () => attempt.key, enumerable: false, configurable: true },
    attempt: { value: attempt.attempt, enumerable: false, configurable: true },
    [ATTEMPT]: { value: attempt, enumerable: false, configurable: true },
  });
}

const attempts = new AsyncLocalStorage<AttemptContext>();

/** For frameworks that give their functions no context: `attemptOf()` finds the attempt all the same. */
export const runInAttempt = <T>(attempt: AttemptContext, fn: () => T): T =>
  attempts.run(attempt, fn);

/**
 * The attempt that a guarded tool's function runs in: the key, the attempt's number, its signal. Give it the
 * context that the function was given, or nothing where there is none.
 *
 * @example
 * ```ts
 * execute: (input, options) => bank.pay(input, { idempotencyKey: attemptOf(options).key })
 * ```
 */
export function attemptOf(context?: unknown): AttemptContext {
  const attempt = (peek(context, ATTEMPT) as AttemptContext | undefined) ?? attempts.getStore();
  if (!attempt) throw new InvalidInputError("context", "is not that of a guarded tool");
  return attempt;
}
