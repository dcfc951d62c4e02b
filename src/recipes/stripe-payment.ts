/**
 * A Stripe payment intent (API v1), keyed and found again like a refund.
 *
 * @module
 */

import type { ToolWithInput } from "../engine/define/definition.ts";
import { typed } from "../engine/define/schema.ts";
import { keyWindows, type RecipeFacts } from "./facts.ts";
import { earliest } from "./look.ts";
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

type Filter = { readonly customer?: string; readonly created: { readonly gte: number } };

/** The part of a Stripe client that is used. */
export interface StripePayments<R extends StripeObject = StripeObject> {
  readonly paymentIntents: {
    create(params: StripePaymentArguments & StripeMark, options: StripeKeyed): Promise<R>;
    list(params: Filter & StripePaging): Promise<StripePage<R>>;
  };
}

/** As the API takes them. The description is no part of the intent. */
export interface StripePaymentArguments {
  /** In the smallest unit of the currency. */
  readonly amount: number;
  readonly currency: string;
  readonly customer?: string;
  readonly payment_method?: string;
  /** Take the money at once. @default false */
  readonly confirm?: boolean;
  readonly description?: string;
}

/** All but the description. */
export type StripePaymentIntent = Omit<StripePaymentArguments, "description">;

/** A payment, taken at once if `confirm` is set. Give it a client whose retries are owned. */
export function stripePayment<R extends StripeObject>(options: {
  readonly client: StripePayments<R>;
}): ToolWithInput<StripePaymentArguments, StripePaymentIntent, R> {
  const { paymentIntents } = options.client;
  return {
    name: "stripe_payment",
    kind: "write",
    service: "stripe",
    input: typed<StripePaymentArguments>(),
    intent: ({ description: _, ...intent }) => intent,
    keyed: keyWindows.stripeV1,
    run: (args, { key }) =>
      // Last, so that no argument of the same name takes its place.
      paymentIntents.create({ ...args, ...marked(key) }, { idempotencyKey: key }),
    readState: ({ intent: { customer }, keys, firstSentAt }) => {
      const created = { gte: Math.floor(earliest(firstSentAt) / 1_000) };
      const filter = { created, ...(customer !== undefined && { customer }) };
      return readByKey(keys, (paging) => paymentIntents.list({ ...filter, ...paging }));
    },
    effect: { id: idOf },
  };
}

export const stripePaymentFacts: RecipeFacts = {
  keyGoes: "Idempotency-Key and metadata",
  window: "24 h",
  reads: "lists the payments since the first send, of the customer if there is one, by metadata",
  cannotKnow: "what is in a list beyond 1000 payments; whether an unconfirmed payment is ever paid",
};
