/**
 * What the status of a Stripe object says of the wish behind it: found is not done.
 *
 * @module
 */

import { statusOf } from "../../classify/answer.ts";
import type { Standing } from "../../http-tool/standing.ts";
import type { Verdict } from "../../reasons.ts";

/** What the recipes need of a Stripe object. */
export interface StripeObject {
  readonly id: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly status?: string | null;
  /** Of a payment: why its last confirmation failed. */
  readonly last_payment_error?: unknown;
}

/**
 * A refund that is `pending` is made. One that `failed` or is `canceled` leaves the customer without the money, one that
 * `requires_action` waits for the customer. Source: docs.stripe.com/api/refunds/object, where the status may be null.
 */
export const refundStanding = ({ status }: StripeObject): Standing =>
  status === "succeeded" || status === "pending" || status == null ? "done" : "open";

/**
 * A payment that is not confirmed is done when it is there, and not canceled. One that is confirmed at once is done when the
 * money is taken, or held for a capture. Source: docs.stripe.com/payments/intents, "intent statuses".
 *
 * `requires_payment_method` alone does not say that the card was declined: a payment begins there. `last_payment_error` does.
 * It is of the last confirmation, and an update clears it. Source: the PaymentIntent object, `last_payment_error`.
 */
export function paymentStanding(payment: StripeObject, isConfirmed: boolean): Standing {
  const { status, last_payment_error: failure } = payment;
  if (!isConfirmed) return status === "canceled" ? "open" : "done";
  if (status === "succeeded" || status === "requires_capture") return "done";
  if (status === "processing") return "in_progress";
  return status === "requires_payment_method" && failure ? "declined" : "open";
}

/**
 * 402: the parameters were valid and the request failed, e.g. a card that was declined. Source: docs.stripe.com/api/errors.
 * The payment of a declined card exists all the same, and is in the error.
 */
export const classifyStripe = (error: unknown): Verdict | undefined =>
  statusOf(error) === 402 ? "rejected" : undefined;
