/**
 * Ready rules for Stripe's own server, `mcp.stripe.com` and `@stripe/mcp`. It takes no key: what moves money asks a person.
 *
 * @module
 */

import type { ReadWith, ToolRules } from "../guard/rules.ts";

const PAGE = 100;

/** Stripe's lists begin with what was made last. */
const newest = (tool: string, field: string): ReadWith => ({
  tool,
  arguments: { limit: PAGE },
  match: { [field]: `$intent.${field}` },
  madeAt: "created",
  id: "id",
  pageSize: PAGE,
  newestFirst: true,
});

const RULES: ToolRules = {
  create_refund: { kind: "destructive", about: ["payment_intent"] },
  cancel_subscription: { kind: "destructive", about: ["subscription"] },
  update_subscription: { kind: "destructive", about: ["subscription"] },
  update_dispute: { kind: "destructive", about: ["dispute"] },
  finalize_invoice: {
    kind: "destructive",
    about: ["invoice"],
    alsoDoes: ["may send the invoice to the customer"],
  },
  // Its list of customers shows ids alone.
  create_customer: { kind: "write", about: ["name"] },
  create_product: { kind: "write", about: ["name"], readWith: newest("list_products", "name") },
  create_coupon: { kind: "write", about: ["name"], readWith: newest("list_coupons", "name") },
  create_price: { kind: "write", about: ["product"] },
  create_payment_link: { kind: "write", about: ["price"] },
  create_invoice: { kind: "write", about: ["customer"] },
  create_invoice_item: { kind: "write", about: ["customer"] },
};

/** It hands on a failure as a text, "Failed to create refund", also one after which Stripe may have done it. */
const succeedsWith = [{ id: "$any" }];

export const stripe: ToolRules = Object.fromEntries(
  Object.entries(RULES).map(([tool, rule]) => [tool, { ...rule, succeedsWith }]),
);
