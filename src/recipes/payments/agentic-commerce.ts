/**
 * A checkout by the Agentic Commerce Protocol: a session is made, and completed with a payment.
 *
 * Source: github.com/agentic-commerce-protocol/agentic-commerce-protocol, rfcs/rfc.agentic_checkout.md, section 6: every POST has an
 * Idempotency-Key, which servers MUST keep for at least 24 hours, with the answer, unless it was 5xx; another body under it is 422
 * `idempotency_conflict`, and while the first is at work 409 `idempotency_in_flight`, with Retry-After.
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
import { maybeTextAt, type Service, type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** How a merchant is reached. */
export interface CheckoutAccess extends ServiceAccess {
  /** Where the merchant's `/checkout_sessions` are. */
  readonly baseUrl: string;
  /** The version of the protocol. @default "2026-01-16" */
  readonly version?: string | undefined;
}

/** A session as the merchant has it. */
export interface CheckoutSession {
  readonly id: string;
  readonly status: string;
  /** Once it is completed. */
  readonly orderId?: string | undefined;
}

const serviceOf = (access: CheckoutAccess): Service =>
  serviceAt(access, access.baseUrl, { more: { "api-version": access.version ?? "2026-01-16" } });

const sessionOf = (session: unknown): CheckoutSession => ({
  id: textAt(session, "id"),
  status: textAt(session, "status"),
  orderId: maybeTextAt(peek(session, "order"), "id"),
});

const KEY = { header: "Idempotency-Key", ...keyWindows.agenticCommerce };

/** 422 with another code than those of section 6.4 is about the request. */
function classifyCheckout(error: unknown): Verdict | undefined {
  if (statusOf(error) !== 422) return undefined;
  const code = peek(error, "code");
  return typeof code === "string" && !code.startsWith("idempotency_") ? "rejected" : undefined;
}

/** As the protocol takes them. All of it is the intent. */
export interface CheckoutSessionArguments {
  readonly items: readonly { readonly id: string; readonly quantity: number }[];
  readonly buyer?: { readonly [name: string]: Json };
  readonly fulfillment_details?: { readonly [name: string]: Json };
}

/** A checkout session. */
export function checkoutSession(
  access: CheckoutAccess,
): ToolWithInput<CheckoutSessionArguments, CheckoutSessionArguments, CheckoutSession> {
  return serviceOf(access).tool({
    name: "checkout_session",
    service: "checkout",
    path: "/checkout_sessions",
    key: KEY,
    result: sessionOf,
    standing: ({ status }) => (status === "canceled" ? "open" : "done"),
    classify: classifyCheckout,
    effect: { id: ({ id }) => id },
  });
}

/** The payment is no part of the intent: it is a secret, and a session is completed once. */
export interface CheckoutCompleteArguments {
  readonly sessionId: string;
  readonly payment_data: { readonly [name: string]: Json };
  readonly buyer?: { readonly [name: string]: Json };
}

/** A session is completed once. */
export type CheckoutCompleteIntent = Pick<CheckoutCompleteArguments, "sessionId">;

/** A session is paid, which makes an order. */
export function checkoutComplete(
  access: CheckoutAccess,
): ToolWithInput<CheckoutCompleteArguments, CheckoutCompleteIntent, CheckoutSession> {
  return serviceOf(access).tool({
    name: "checkout_complete",
    service: "checkout",
    intent: ({ sessionId }) => ({ sessionId }),
    resource: ({ sessionId }) => `checkout/${sessionId}`,
    path: "/checkout_sessions/{sessionId}/complete",
    key: KEY,
    // The session itself says whether it was completed. Who did it, the id of its order does: see `effect`.
    find: { url: "/checkout_sessions/{sessionId}", isMine: () => true },
    result: sessionOf,
    standing: completeStanding,
    classify: classifyCheckout,
    effect: { id: ({ orderId }) => orderId },
  });
}

/** A session that was not completed still waits for a payment: a declined one leaves it so (section 5, `payment_declined`). */
function completeStanding({ status, orderId }: CheckoutSession): Standing {
  if (status === "completed" && orderId !== undefined) return "done";
  if (status === "in_progress") return "in_progress";
  return status === "ready_for_payment" || status === "not_ready_for_payment" ? "declined" : "open";
}
