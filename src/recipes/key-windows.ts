/**
 * How long the services remember a key, by their own documentation.
 *
 * @module
 */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How long a service remembers a key, by its own documentation: what `keyed` wants. A window that is not published is not here. */
export const keyWindows: {
  /** API v1: keys are removed when they are "at least 24 hours old" (docs.stripe.com/idempotency). */
  readonly stripeV1: { readonly forMs: number };
  /** 24 hours (resend.com/docs/dashboard/emails/idempotency-keys). */
  readonly resend: { readonly forMs: number };
  /** "The server stores keys for 45 days" (PayPal's payments_payment_v2.json). */
  readonly paypalPayments: { readonly forMs: number };
  /** "The server stores keys for 6 hours"; more by your account manager (PayPal's checkout_orders_v2.json). */
  readonly paypalOrders: { readonly forMs: number };
  /** 24 hours (shopify.dev/docs/api/usage/implementing-idempotency, as three projects quote it). */
  readonly shopify: { readonly forMs: number };
  /** 2 hours (developer.zendesk.com/api-reference/ticketing/introduction). */
  readonly zendesk: { readonly forMs: number };
  /** At least 31 days in copies of docs.adyen.com/development-resources/api-idempotency; a day is what a resend needs. */
  readonly adyen: { readonly forMs: number };
  /** "For up to 24 hours", where the endpoint declares the header (developers.telnyx.com, "Idempotency"). */
  readonly telnyx: { readonly forMs: number };
  /** "At least 24 hours" (rfcs/rfc.agentic_checkout.md, 6.6). */
  readonly agenticCommerce: { readonly forMs: number };
  /** A row is a memory for as long as it is not deleted; a day is what a resend needs. */
  readonly sqlRow: { readonly forMs: number };
} = {
  stripeV1: { forMs: DAY_MS },
  resend: { forMs: DAY_MS },
  paypalPayments: { forMs: 45 * DAY_MS },
  paypalOrders: { forMs: 6 * HOUR_MS },
  shopify: { forMs: DAY_MS },
  zendesk: { forMs: 2 * HOUR_MS },
  adyen: { forMs: DAY_MS },
  telnyx: { forMs: DAY_MS },
  agenticCommerce: { forMs: DAY_MS },
  sqlRow: { forMs: DAY_MS },
};
