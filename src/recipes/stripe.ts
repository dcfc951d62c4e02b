/**
 * Stripe refunds and payment intents (API v1). The key goes out as the idempotency key and into the metadata, so
 * a repeated request is recognised and a lost one is found.
 *
 * Read by list and never by search, for only a list has what was just made.
 *
 * @module
 */

import type { ToolWithInput } from "../engine/define/definition.ts";
import type { Reading } from "../engine/define/reading.ts";
import { typed } from "../engine/define/schema.ts";
import { keyWindows } from "./facts.ts";
import { earliest, readingOf, readPages } from "./read-list.ts";

/** What the recipes need of a Stripe object. */
export interface StripeObject {
  readonly id: string;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** One page of a Stripe list. */
export interface StripePage<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

/** Where a page begins. */
export interface StripePaging {
  readonly limit: number;
  readonly starting_after?: string;
}

/** The second argument of a Stripe `create`. */
export interface StripeKeyed {
  readonly idempotencyKey: string;
}

/** Metadata by which the object is found again. */
export interface StripeMark {
  readonly metadata: { readonly holdfire_key: string };
}

const marked = (key: string): StripeMark => ({ metadata: { holdfire_key: key } });

const idOf = ({ id }: StripeObject): string => id;

const PAGE = 100;

/** Finds the object that carries one of the keys. */
async function readByKey<R extends StripeObject>(
  keys: readonly string[],
  list: (paging: StripePaging) => Promise<StripePage<R>>,
): Promise<Reading<R>> {
  const found = await readPages<R, string>(
    async (cursor) => {
      const after = cursor === undefined ? {} : { starting_after: cursor };
      const { data, has_more } = await list({ limit: PAGE, ...after });
      const last = data.at(-1)?.id;
      if (has_more && last === undefined) throw new Error("A page is empty, and not the last.");
      return { items: data, next: has_more ? last : undefined };
    },
    ({ metadata }) => keys.includes(metadata?.holdfire_key ?? ""),
  );
  return readingOf(found, (object) => object, idOf);
}

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
