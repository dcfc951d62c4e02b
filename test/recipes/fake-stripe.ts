/**
 * Stripe as documented: a key is answered with the first result, a declined card with a 402 that contains the payment, and lists
 * are newest first and in pages.
 *
 * @module
 */

import Stripe from "stripe";
import { ownRetries } from "../../src/integrations/stripe/index.ts";
import { type FakeAnswer, type FakeRequest, type FakeService, startFake } from "./fake-service.ts";
import type { Stage } from "./stage.ts";

export interface Kept {
  readonly id: string;
  readonly object: string;
  readonly payment_intent?: string | undefined;
  readonly customer?: string | undefined;
  readonly created: number;
  readonly metadata: Record<string, string>;
  status: string;
  last_payment_error?: object | null;
  amount_received?: number;
}

/** What becomes of a payment that is confirmed, by its payment method. Any other succeeds. */
const CONFIRMED: Readonly<Record<string, string>> = {
  pm_declined: "requires_payment_method",
  pm_authenticate: "requires_action",
  pm_debit: "processing",
};

const DECLINED = { type: "card_error", code: "card_declined" };

function stateOf(object: string, form: URLSearchParams): Partial<Kept> & { status: string } {
  if (object === "refund") return { status: "succeeded" };
  const isConfirmed = form.get("confirm") === "true";
  const method = form.get("payment_method") ?? "";
  const status = isConfirmed ? (CONFIRMED[method] ?? "succeeded") : "requires_payment_method";
  return {
    status,
    last_payment_error: isConfirmed && method === "pm_declined" ? DECLINED : null,
    amount_received: status === "succeeded" ? Number(form.get("amount")) : 0,
  };
}

function fakeStripe(now: () => number) {
  const kept: Kept[] = [];
  const answers = new Map<string, FakeAnswer>();
  const create = ({ path, headers, text }: FakeRequest): FakeAnswer => {
    const key = `${headers["idempotency-key"]}`;
    const known = answers.get(key);
    if (known) return { ...known, headers: { "idempotent-replayed": "true" } };
    const form = new URLSearchParams(text);
    const object = path === "/v1/refunds" ? "refund" : "payment_intent";
    const made: Kept = {
      id: `${object === "refund" ? "re" : "pi"}_${kept.length + 1}`,
      object,
      payment_intent: form.get("payment_intent") ?? undefined,
      customer: form.get("customer") ?? undefined,
      created: Math.floor(now() / 1_000),
      metadata: { holdfire_key: form.get("metadata[holdfire_key]") ?? "" },
      ...stateOf(object, form),
    };
    kept.unshift(made);
    // As it was then: what becomes of it later is not in a stored answer.
    const answer = made.last_payment_error
      ? { status: 402, body: { error: { ...DECLINED, payment_intent: { ...made } } } }
      : { body: { ...made } };
    answers.set(key, answer);
    return answer;
  };
  const list = ({ path, query }: FakeRequest): FakeAnswer => {
    const object = path === "/v1/refunds" ? "refund" : "payment_intent";
    const matching = kept.filter(
      (one) =>
        one.object === object &&
        ["payment_intent", "customer"].every(
          (name) => !query.has(name) || one[name as "customer"] === query.get(name),
        ) &&
        one.created >= Number(query.get("created[gte]") ?? 0),
    );
    const after = matching.findIndex(({ id }) => id === query.get("starting_after"));
    const limit = Number(query.get("limit"));
    const data = matching.slice(after + 1, after + 1 + limit);
    const has_more = matching.length > after + 1 + limit;
    return { body: { object: "list", data, has_more, url: path } };
  };
  const handle = (request: FakeRequest) =>
    request.method === "POST" ? create(request) : list(request);
  return { kept, handle };
}

const clientOf = ({ url }: FakeService, { hf }: Stage): Stripe => {
  const { hostname, port } = new URL(url);
  const options = { host: hostname, port, protocol: "http", telemetry: false } as const;
  return ownRetries(new Stripe("sk_test_x", options), hf);
};

/** A Stripe of its own, with the client that a recipe takes. */
export async function openStripe(stage: Stage): Promise<{
  readonly fake: FakeService;
  readonly kept: Kept[];
  readonly client: Stripe;
  readonly effects: () => number;
}> {
  const { kept, handle } = fakeStripe(stage.clock.now);
  const fake = await startFake(handle);
  return { fake, kept, client: clientOf(fake, stage), effects: () => kept.length };
}

export const foreign = (now: number, object: string): Kept => ({
  id: `foreign_${object}`,
  object,
  payment_intent: "pi_7",
  customer: "cus_7",
  created: Math.floor(now / 1_000),
  metadata: { holdfire_key: "0190a5b2-0000-8000-8000-000000000000" },
  status: "succeeded",
});
