/**
 * A Shopify refund, by the GraphQL Admin API. The key goes into the directive `@idempotent`, which `refundCreate` must have
 * from version 2026-04 on (shopify.dev/changelog/making-idempotency-mandatory-for-inventory-adjustments-and-refund-mutations).
 *
 * A repeated key gets the result of the first request for the retention window of shopify.dev/docs/api/usage/implementing-idempotency;
 * its 24 hours are quoted by three projects, and the page itself was read without them.
 *
 * @module
 */

import type { ToolWithInput } from "../../engine/define/definition.ts";
import { type HttpAnswer, HttpAnswerError } from "../../http-tool/request.ts";
import type { Json } from "../../key/json.ts";
import { peek } from "../../lang/peek.ts";
import type { Verdict } from "../../reasons.ts";
import { keyWindows } from "../key-windows.ts";
import { type ServiceAccess, serviceAt, textAt } from "../service.ts";

/** As `RefundInput` has them. The note is no part of the intent. */
export interface ShopifyRefundArguments {
  /** `gid://shopify/Order/…` */
  readonly orderId: string;
  readonly note?: string;
  readonly refundLineItems?: readonly { readonly [name: string]: Json }[];
  readonly transactions?: readonly { readonly [name: string]: Json }[];
}

/** All but the note. */
export type ShopifyRefundIntent = Omit<ShopifyRefundArguments, "note">;

/** A refund that Shopify has. */
export interface ShopifyRefund {
  readonly id: string;
}

const CREATE =
  "mutation($input: RefundInput!, $key: String!) { refundCreate(input: $input) @idempotent(key: $key) { refund { id } userErrors { code field message } } }";

/** A refund. `baseUrl` is your shop, e.g. `https://acme.myshopify.com`; `authorization` goes into X-Shopify-Access-Token. */
export function shopifyRefund(
  access: ServiceAccess & { readonly baseUrl: string; readonly version?: string | undefined },
): ToolWithInput<ShopifyRefundArguments, ShopifyRefundIntent, ShopifyRefund> {
  return serviceAt(access, access.baseUrl, { header: "x-shopify-access-token" }).tool({
    name: "shopify_refund",
    service: "shopify",
    intent: ({ note: _, ...intent }) => intent,
    resource: ({ orderId }) => `shopify/${orderId}`,
    path: `/admin/api/${access.version ?? "2026-04"}/graphql.json`,
    key: keyWindows.shopify,
    body: (input, { key }) => ({ query: CREATE, variables: { input, key } }),
    result: refundOf,
    classify: classifyShopify,
    effect: { id: ({ id }) => id },
  });
}

/** GraphQL says no inside a 200: for the whole request in `errors`, for the mutation in `userErrors`. */
function refundOf(body: unknown, answer: HttpAnswer): ShopifyRefund {
  const made = peek(peek(body, "data"), "refundCreate");
  const [error, userError] = [first(peek(body, "errors")), first(peek(made, "userErrors"))];
  if (error) throw new HttpAnswerError(answer, peek(peek(error, "extensions"), "code"));
  if (userError) throw new HttpAnswerError(answer, peek(userError, "code") ?? "USER_ERROR");
  return { id: textAt(peek(made, "refund"), "id") };
}

const first = (list: unknown): unknown => peek(list, 0);

/** The mutation itself was turned down: where it has run, its payload is there. */
const isMissing = (made: unknown): boolean => made === undefined || made === null;

/**
 * A throttled query is not run (shopify.dev/docs/api/usage/rate-limits). `userErrors` are about the input, but for those about the
 * key: IDEMPOTENCY_CONCURRENT_REQUEST, …_KEY_PARAMETER_MISMATCH, …_PREVIOUS_ATTEMPT_FAILED. They prove nothing.
 */
function classifyShopify(error: unknown): Verdict | undefined {
  if (!(error instanceof HttpAnswerError) || error.status !== 200) return undefined;
  const { code = "" } = error;
  const made = peek(peek(error.body, "data"), "refundCreate");
  // An error beside the refund is about a part of it, or about a field that was asked for.
  if (peek(made, "refund")) return undefined;
  if (code === "THROTTLED") return "refused";
  if (code === "ACCESS_DENIED") return isMissing(made) ? "rejected" : undefined;
  const isUserError = first(peek(made, "userErrors")) !== undefined;
  return isUserError && !code.includes("IDEMPOTENCY") ? "rejected" : undefined;
}
