/**
 * PayPal payments (v2) and orders (v2). The key goes out as `PayPal-Request-Id`: a repeated one gets "the latest status of the
 * previous request" (developer.paypal.com/reference/guidelines/idempotency), so what has become of it since is seen, too.
 *
 * Windows, fields and statuses are those of PayPal's own API descriptions (github.com/paypal/paypal-rest-api-specifications,
 * openapi/payments_payment_v2.json and openapi/checkout_orders_v2.json).
 *
 * @module
 */

import { statusOf } from "../../classify/answer.ts";
import type { ToolWithInput } from "../../engine/define/definition.ts";
import type { Standing } from "../../http-tool/standing.ts";
import { peek, peekItems } from "../../lang/peek.ts";
import type { Verdict } from "../../reasons.ts";
import { keyWindows } from "../key-windows.ts";
import { maybeTextAt, type Service, type ServiceAccess, serviceAt, textAt } from "../service.ts";

const KEY = "PayPal-Request-Id";

/** Without `prefer` an answer has the id and the status alone. */
const serviceOf = (access: ServiceAccess): Service =>
  serviceAt(access, "https://api-m.paypal.com", { more: { prefer: "return=representation" } });

/** An amount as PayPal takes it, e.g. `{ currency_code: "USD", value: "4.00" }`. */
export interface PaypalMoney {
  readonly currency_code: string;
  readonly value: string;
}

/** A refund, a capture or an order that PayPal has. */
export interface PaypalObject {
  readonly id: string;
  readonly status: string;
}

const objectOf = (body: unknown): PaypalObject => ({
  id: textAt(body, "id"),
  status: textAt(body, "status"),
});

const idOf = ({ id }: PaypalObject): string => id;

/**
 * 422 is "semantically incorrect or failed business validation" in the descriptions, with an `issue`; none of these is about the
 * id of the request, but for the one that misses it. After a doubt it is no proof all the same: "already captured" may be us.
 */
function classifyPaypal(error: unknown): Verdict | undefined {
  if (statusOf(error) !== 422) return undefined;
  const issues = peekItems(peek(peek(error, "body"), "details"), 8).map((one) =>
    maybeTextAt(one, "issue"),
  );
  const isNamed = issues.length > 0 && issues.every((issue) => issue && !/REQUEST_ID/.test(issue));
  return isNamed ? "rejected" : undefined;
}

/** The note is no part of the intent. */
export interface PaypalRefundArguments {
  readonly captureId: string;
  /** @default all that is left */
  readonly amount?: PaypalMoney;
  /** The payer sees it. */
  readonly note_to_payer?: string;
}

/** Capture and amount are what was wanted. */
export type PaypalRefundIntent = Pick<PaypalRefundArguments, "captureId" | "amount">;

/** A refund of a captured payment. `authorization` is `Bearer …`. */
export function paypalRefund(
  access: ServiceAccess,
): ToolWithInput<PaypalRefundArguments, PaypalRefundIntent, PaypalObject> {
  return serviceOf(access).tool({
    name: "paypal_refund",
    service: "paypal",
    intent: ({ captureId, amount }) => ({ captureId, ...(amount && { amount }) }),
    resource: ({ captureId }) => `paypal/${captureId}`,
    path: "/v2/payments/captures/{captureId}/refund",
    key: { header: KEY, ...keyWindows.paypalPayments },
    // Appears in the reports of transactions, where a person finds it.
    body: ({ amount, note_to_payer }, { key }) => ({ amount, note_to_payer, custom_id: key }),
    result: objectOf,
    // CANCELLED and FAILED leave the payer without the money.
    standing: ({ status }) => (status === "COMPLETED" || status === "PENDING" ? "done" : "open"),
    classify: classifyPaypal,
    effect: { id: idOf },
  });
}

/** All of it is the intent. */
export interface PaypalCaptureArguments {
  readonly authorizationId: string;
  /** @default the whole authorization */
  readonly amount?: PaypalMoney;
  readonly final_capture?: boolean;
}

/** What an authorization holds is taken. */
export function paypalCapture(
  access: ServiceAccess,
): ToolWithInput<PaypalCaptureArguments, PaypalCaptureArguments, PaypalObject> {
  return serviceOf(access).tool({
    name: "paypal_capture",
    service: "paypal",
    resource: ({ authorizationId }) => `paypal/${authorizationId}`,
    path: "/v2/payments/authorizations/{authorizationId}/capture",
    key: { header: KEY, ...keyWindows.paypalPayments },
    result: objectOf,
    standing: captureStanding,
    classify: classifyPaypal,
    effect: { id: idOf },
  });
}

/** PENDING: the money has not come yet. REFUNDED: it was taken, and a person has given it back. */
function captureStanding({ status }: PaypalObject): Standing {
  if (status === "COMPLETED" || status === "PARTIALLY_REFUNDED") return "done";
  if (status === "PENDING") return "in_progress";
  return NOT_CAPTURED.has(status) ? "declined" : "open";
}

/** Of a capture, and of an order that has none. */
const NOT_CAPTURED: ReadonlySet<string> = new Set([
  "DECLINED",
  "FAILED",
  "CREATED",
  "SAVED",
  "APPROVED",
]);

/** As the API takes them. All of it is the intent. */
export interface PaypalOrderArguments {
  readonly intent: "CAPTURE" | "AUTHORIZE";
  readonly purchase_units: readonly {
    readonly amount: PaypalMoney;
    readonly reference_id?: string;
    readonly description?: string;
    readonly invoice_id?: string;
  }[];
}

/** An order, which the payer then approves. */
export function paypalOrder(
  access: ServiceAccess,
): ToolWithInput<PaypalOrderArguments, PaypalOrderArguments, PaypalObject> {
  return serviceOf(access).tool({
    name: "paypal_order",
    service: "paypal",
    path: "/v2/checkout/orders",
    key: { header: KEY, ...keyWindows.paypalOrders },
    body: ({ intent, purchase_units }, { key }) => ({
      intent,
      purchase_units: purchase_units.map((unit) => ({ ...unit, custom_id: key })),
    }),
    result: objectOf,
    standing: ({ status }) => (status === "VOIDED" ? "open" : "done"),
    classify: classifyPaypal,
    effect: { id: idOf },
  });
}

/** All of it is the intent: an order is captured once. */
export interface PaypalOrderCaptureArguments {
  readonly orderId: string;
}

/** An order that the payer has approved is captured. */
export function paypalOrderCapture(
  access: ServiceAccess,
): ToolWithInput<PaypalOrderCaptureArguments, PaypalOrderCaptureArguments, PaypalObject> {
  return serviceOf(access).tool({
    name: "paypal_order_capture",
    service: "paypal",
    resource: ({ orderId }) => `paypal/${orderId}`,
    path: "/v2/checkout/orders/{orderId}/capture",
    key: { header: KEY, ...keyWindows.paypalOrders },
    // The order itself says whether it was captured. Who captured it, its capture's id does: see `effect`.
    find: { url: "/v2/checkout/orders/{orderId}", isMine: () => true },
    result: captureIn,
    standing: captureStanding,
    classify: classifyPaypal,
    effect: { id: idOf },
  });
}

/** The order's capture, or the order where it has none. */
function captureIn(order: unknown): PaypalObject {
  const [unit] = peekItems(peek(order, "purchase_units"), 1);
  const [capture] = peekItems(peek(peek(unit, "payments"), "captures"), 1);
  return objectOf(capture ?? order);
}
