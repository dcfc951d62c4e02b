/**
 * An Adyen payment (Checkout API). The key goes out as `idempotency-key`, of at most 64 characters, and a repeated one gets the
 * first answer: docs.adyen.com/development-resources/api-idempotency. Keys are known per company account, and not in another region.
 *
 * How long: "a minimum period of 31 days" in copies of that page; the newest that was read is cut before the number, so a day is
 * declared, which a resend needs. There is no way to ask for a payment by its key: webhooks tell.
 *
 * @module
 */

import { statusOf } from "../../classify/answer.ts";
import type { ToolWithInput } from "../../engine/define/definition.ts";
import type { Standing } from "../../http-tool/standing.ts";
import type { Json } from "../../key/json.ts";
import { peek } from "../../lang/peek.ts";
import type { Verdict } from "../../reasons.ts";
import { keyWindows } from "../key-windows.ts";
import { maybeTextAt, type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** As the API takes them. The payment method is no part of the intent: it is a secret. */
export interface AdyenPaymentArguments {
  readonly merchantAccount: string;
  /** Your name of the payment. */
  readonly reference: string;
  /** `value` in the smallest unit of the currency. */
  readonly amount: { readonly currency: string; readonly value: number };
  readonly paymentMethod: { readonly [name: string]: Json };
  readonly returnUrl: string;
  readonly shopperReference?: string;
}

/** A payment of this reference and amount is wanted once. */
export type AdyenPaymentIntent = Pick<
  AdyenPaymentArguments,
  "merchantAccount" | "reference" | "amount"
>;

/** What Adyen answered. */
export interface AdyenPayment {
  readonly pspReference: string;
  readonly resultCode: string;
}

/** A payment. `baseUrl` is your live address with the version, e.g. `https://…-checkout-live.adyenpayments.com/checkout/v71`. */
export function adyenPayment(
  access: ServiceAccess & { readonly baseUrl: string },
): ToolWithInput<AdyenPaymentArguments, AdyenPaymentIntent, AdyenPayment> {
  return serviceAt(access, access.baseUrl, { header: "x-api-key" }).tool({
    name: "adyen_payment",
    service: "adyen",
    intent: ({ merchantAccount, reference, amount }) => ({ merchantAccount, reference, amount }),
    path: "/payments",
    key: { header: "idempotency-key", ...keyWindows.adyen },
    body: (args, { key }) => ({ ...args, metadata: { holdfire_key: key } }),
    result: (body) => ({
      pspReference: maybeTextAt(body, "pspReference") ?? "",
      resultCode: textAt(body, "resultCode"),
    }),
    standing: paymentStanding,
    classify: classifyAdyen,
    effect: { id: ({ pspReference }) => pspReference || undefined },
  });
}

/** Source: docs.adyen.com/online-payments/build-your-integration/payment-result-codes. Where the shopper must act, it is open. */
function paymentStanding({ resultCode }: AdyenPayment): Standing {
  if (resultCode === "Authorised") return "done";
  if (resultCode === "Pending" || resultCode === "Received") return "in_progress";
  return resultCode === "Refused" || resultCode === "Cancelled" ? "declined" : "open";
}

/** A validation error is one of the request, but for 704: "request already processed or in progress", which is one of the key. */
function classifyAdyen(error: unknown): Verdict | undefined {
  const body = peek(error, "body");
  if (statusOf(error) !== 422 || peek(body, "errorType") !== "validation") return undefined;
  return `${peek(body, "errorCode")}` === "704" ? "unknown" : "rejected";
}
