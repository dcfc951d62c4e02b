/**
 * A tool's own word that nothing happened: `throw notApplied("card declined")` in `run`.
 *
 * @module
 */

import { peek } from "../lang/peek.ts";

/** Shared by all copies of the package. */
export const NOT_APPLIED: unique symbol = Symbol.for("holdfire.not_applied");

class NotApplied extends Error {
  override readonly name = "NotApplied";

  constructor(why: string, options?: ErrorOptions) {
    super(why, options);
    Object.defineProperty(this, NOT_APPLIED, { value: true });
  }
}

/**
 * Throw it in `run` where it is certain that nothing happened: a declined card, a check of your own that failed, an
 * answer 200 whose body says no. The call ends as `not_applied`, reason `rejected`, at once, and the model hears
 * `why`. It is believed whatever was seen of this attempt's requests, as `classify` is; what an earlier attempt may
 * have done stays in doubt. The caller gets a `NotAppliedError` with this error as its `cause`.
 *
 * @example
 * ```ts
 * if (payment.status === "declined") throw notApplied(`The card was declined: ${payment.reason}`);
 * ```
 */
export const notApplied = (why: string, options?: { readonly cause?: unknown }): Error =>
  new NotApplied(why, options);

/** Whether this very error says so; one inside another error does not speak for the whole of `run`. */
export const isNotApplied = (error: unknown): boolean => peek(error, NOT_APPLIED) === true;
