/**
 * Stripe refunds and payment intents (API v1). The key goes out as the idempotency key and into the metadata, so
 * a repeated request is recognised and a lost one is found.
 *
 * Read by list and never by search: only the list is "not subject to the availability delay" (docs.stripe.com/search). What is
 * found is judged by its status, in `stripe-status.ts`.
 *
 * @module
 */

import type { ToolWithInput } from "../../engine/define/definition.ts";
import type { Reading } from "../../engine/define/reading.ts";
import { typed } from "../../engine/define/schema.ts";
import { readingByStanding, type Standing } from "../../http-tool/standing.ts";
import { keyWindows } from "../key-windows.ts";
import { earliest, foundIn, type ListRead, readPages } from "../read-list.ts";
import {
  classifyStripe,
  paymentStanding,
  refundStanding,
  type StripeObject,
} from "./stripe-status.ts";

export type { StripeObject } from "./stripe-status.ts";

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

type List<R> = (paging: StripePaging) => Promise<StripePage<R>>;

const readList = <R extends StripeObject>(
  list: List<R>,
  isWanted: (object: R) => boolean,
): Promise<ListRead<R>> =>
  readPages<R, string>(async (cursor) => {
    const after = cursor === undefined ? {} : { starting_after: cursor };
    const { data, has_more } = await list({ limit: PAGE, ...after });
    const last = data.at(-1)?.id;
    if (has_more && last === undefined) throw new Error("A page is empty, and not the last.");
    return { items: data, next: has_more ? last : undefined };
  }, isWanted);

/** Finds the object that carries one of the keys, and looks at its status. */
async function readByKey<R extends StripeObject>(
  keys: readonly string[],
  list: List<R>,
  standingOf: (object: R) => Standing,
): Promise<Reading<R>> {
  const read = await readList(list, ({ metadata }) => keys.includes(metadata?.holdfire_key ?? ""));
  return readingByStanding(foundIn(read), standingOf, idOf);
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
  const listOf =
    (payment: string): List<R> =>
    (paging) =>
      refunds.list({ ...paymentOf(payment), ...paging });
  return {
    name: "stripe_refund",
    kind: "write",
    service: "stripe",
    input: typed<StripeRefundArguments>(),
    intent: ({ payment, amount }) => ({ payment, ...(amount !== undefined && { amount }) }),
    resource: ({ payment }) => `stripe/${payment}`,
    keyed: keyWindows.stripeV1,
    run: async ({ payment, amount, reason }, { key, attempt }) => {
      const made = await refunds.create(
        {
          ...paymentOf(payment),
          ...(amount !== undefined && { amount }),
          ...(reason !== undefined && { reason }),
          ...marked(key),
        },
        { idempotencyKey: key },
      );
      if (attempt === 1) return made;
      // A repeated key gets the answer of the first request (docs.stripe.com/idempotency): the refund may have failed since.
      const { found } = await readList(listOf(payment), ({ id }) => id === made.id);
      return found[0] ?? made;
    },
    verify: (refund) => refundStanding(refund) === "done",
    readState: ({ intent, keys }) => readByKey(keys, listOf(intent.payment), refundStanding),
    classify: classifyStripe,
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

/**
 * A payment, taken at once if `confirm` is set. Give it a client whose retries are owned.
 *
 * With `confirm` it is committed when the money is taken. A declined card is a rejection; a payment that the customer must
 * authenticate is unknown, and its result is kept.
 */
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
    verify: (payment, { intent }) => paymentStanding(payment, isConfirmed(intent)) === "done",
    readState: ({ intent, keys, firstSentAt }) => {
      const { customer } = intent;
      const created = { gte: Math.floor(earliest(firstSentAt) / 1_000) };
      const filter = { created, ...(customer !== undefined && { customer }) };
      return readByKey(
        keys,
        (paging) => paymentIntents.list({ ...filter, ...paging }),
        (payment) => paymentStanding(payment, isConfirmed(intent)),
      );
    },
    classify: classifyStripe,
    effect: { id: idOf },
  };
}

const isConfirmed = ({ confirm }: StripePaymentIntent): boolean => confirm === true;
