/**
 * A Stripe refund (API v1). The key goes out as the idempotency key and into the metadata, so a repeated
 * request is recognised and a lost one is found.
 *
 * @module
 */

import type { ToolWithInput } from "../engine/define/definition.ts";
import { typed } from "../engine/define/schema.ts";
import { keyWindows, type RecipeFacts } from "./facts.ts";
import {
  idOf,
  marked,
  readByKey,
  type StripeKeyed,
  type StripeMark,
  type StripeObject,
  type StripePage,
  type StripePaging,
} from "./stripe-list.ts";

type PaymentOf = { readonly payment_intent: string } | { readonly charge: string };
type Reason = "duplicate" | "fraudulent" | "requested_by_customer";
type Params = PaymentOf & { readonly amount?: number; readonly reason?: Reason } & StripeMark;

/** The part of a Stripe client that is used. */
export interface StripeRefunds<R extends StripeObject = StripeObject> {
  readonly refunds: {
    create(params: Params, options: StripeKeyed): Promise<R>;
    list(params: PaymentOf & StripePaging): Promise<StripePage<R>>;
  };
}

/** What is paid back. The reason is no part of the intent. */
export interface StripeRefundArguments {
  /** `pi_…`, or the id of a charge. */
  readonly payment: string;
  /** In the smallest unit of the currency. @default all that is left */
  readonly amount?: number;
  readonly reason?: Reason;
}

/** Payment and amount are what was wanted. */
export type StripeRefundIntent = Pick<StripeRefundArguments, "payment" | "amount">;

/**
 * A refund. Give it a client whose retries are owned.
 *
 * @example
 * ```ts
 * const refund = hf.tool(stripeRefund({ client: ownRetries(new Stripe(apiKey), hf) }));
 * ```
 */
export function stripeRefund<R extends StripeObject>(options: {
  readonly client: StripeRefunds<R>;
}): ToolWithInput<StripeRefundArguments, StripeRefundIntent, R> {
  const { refunds } = options.client;
  return {
    name: "stripe_refund",
    kind: "write",
    service: "stripe",
    input: typed<StripeRefundArguments>(),
    intent: ({ payment, amount }) => ({ payment, ...(amount !== undefined && { amount }) }),
    resource: ({ payment }) => `stripe/${payment}`,
    keyed: keyWindows.stripeV1,
    run: ({ payment, amount, reason }, { key }) =>
      refunds.create(
        {
          ...paymentOf(payment),
          ...(amount !== undefined && { amount }),
          ...(reason !== undefined && { reason }),
          ...marked(key),
        },
        { idempotencyKey: key },
      ),
    readState: ({ intent, keys }) =>
      readByKey(keys, (paging) => refunds.list({ ...paymentOf(intent.payment), ...paging })),
    effect: { id: idOf },
  };
}

const paymentOf = (payment: string): PaymentOf =>
  payment.startsWith("pi_") ? { payment_intent: payment } : { charge: payment };

export const stripeRefundFacts: RecipeFacts = {
  keyGoes: "Idempotency-Key and metadata",
  window: "24 h",
  reads: "lists the refunds of the payment, by metadata",
  cannotKnow: "whether a refund that was made reaches the customer",
};
