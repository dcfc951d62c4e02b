import { describe, expect, test } from "vitest";
import {
  paypalCapture,
  paypalOrder,
  paypalOrderCapture,
  paypalRefund,
} from "../../src/recipes/payments/paypal.ts";
import { type FakeAnswer, startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage } from "./stage.ts";

/** An error as PayPal's API descriptions have it (`error_422`). */
const unprocessable = (issue: string): FakeAnswer => ({
  status: 422,
  body: { name: "UNPROCESSABLE_ENTITY", message: "Not possible.", details: [{ issue }] },
});

/**
 * PayPal as documented: a known PayPal-Request-Id gets the latest status of what its first request made. What another body under
 * it gets is not documented; here it gets the same.
 */
async function openPaypal(options: { status?: string; issue?: string } = {}) {
  const made = new Map<string, { id: string; status: string; custom_id?: unknown }>();
  const orders = new Map<string, string[]>();
  let declined = false;
  const answers = new Map<string, FakeAnswer>();
  const write = (path: string, key: string, custom_id: unknown): FakeAnswer => {
    if (declined) return unprocessable(options.issue ?? "INSTRUMENT_DECLINED");
    const order = /orders\/(\w+)\/capture$/.exec(path)?.[1];
    if (order && orders.has(order)) return unprocessable("ORDER_ALREADY_CAPTURED");
    const { status = "COMPLETED" } = options;
    const thing = { id: `${made.size + 1}AB`, status, custom_id };
    made.set(thing.id, thing);
    if (!order) return { status: 201, body: thing };
    orders.set(order, [...(orders.get(order) ?? []), thing.id]);
    return { status: 201, body: { tag: order, key } };
  };
  const orderOf = (id: string) => {
    const captures = (orders.get(id) ?? []).map((capture) => made.get(capture));
    const status = captures.length > 0 ? "COMPLETED" : "APPROVED";
    return { id, status, purchase_units: [{ payments: { captures } }] };
  };
  const latest = ({ body, ...rest }: FakeAnswer): FakeAnswer => {
    const { tag, id } = (body ?? {}) as { tag?: string; id?: string };
    if (tag) return { ...rest, body: orderOf(tag) };
    return { ...rest, body: made.get(id ?? "") ?? body };
  };
  const fake = await startFake(({ method, path, headers, json }) => {
    if (method === "GET") return { body: orderOf(path.split("/").at(-1) ?? "") };
    const key = `${headers["paypal-request-id"]}`;
    const answer = answers.get(key) ?? write(path, key, json?.custom_id);
    answers.set(key, answer);
    return latest(answer);
  });
  return {
    fake,
    made,
    access: { authorization: "Bearer x", baseUrl: fake.url },
    effects: () => made.size,
    decline: () => {
      declined = true;
    },
  };
}

const AMOUNT = { currency_code: "USD", value: "4.00" };

recipeContract("paypalRefund", {
  licence: "keyed",
  finds: false,
  says: true,
  open: async () => {
    const { access, ...rest } = await openPaypal({ issue: "CAPTURE_FULLY_REFUNDED" });
    const args = { captureId: "2GG", amount: AMOUNT };
    const reworded = { ...args, note_to_payer: "Sorry" };
    return { ...rest, definition: paypalRefund(access), args, reworded };
  },
});

recipeContract("paypalCapture", {
  licence: "keyed",
  finds: false,
  says: true,
  open: async () => {
    const { access, ...rest } = await openPaypal({ issue: "AUTHORIZATION_ALREADY_CAPTURED" });
    return { ...rest, definition: paypalCapture(access), args: { authorizationId: "0VF" } };
  },
});

recipeContract("paypalOrder", {
  licence: "keyed",
  finds: false,
  says: true,
  open: async () => {
    const { access, ...rest } = await openPaypal({
      status: "CREATED",
      issue: "DUPLICATE_INVOICE_ID",
    });
    const args = { intent: "CAPTURE", purchase_units: [{ amount: AMOUNT }] } as const;
    return { ...rest, definition: paypalOrder(access), args };
  },
});

recipeContract("paypalOrderCapture", {
  licence: "keyed",
  says: true,
  once: true,
  open: async () => {
    const { access, ...rest } = await openPaypal();
    return { ...rest, definition: paypalOrderCapture(access), args: { orderId: "5O1" } };
  },
});

describe("the status of what PayPal made", () => {
  test.each([
    ["PENDING", { status: "unknown" }],
    ["DECLINED", { status: "not_applied", reason: "rejected" }],
    ["REFUNDED", { status: "unknown" }],
    ["COMPLETED", { status: "committed" }],
  ])("a capture that is %s", async (status, outcome) => {
    const stage = openStage();
    const { access } = await openPaypal({ status });
    const tool = stage.tool(paypalCapture(access));
    expect(await stage.call(tool, { authorizationId: "0VF" })).toMatchObject(outcome);
  });

  test.each([
    ["PENDING", "committed"],
    ["FAILED", "unknown"],
  ])("a refund that is %s", async (status, outcome) => {
    const stage = openStage();
    const { access } = await openPaypal({ status });
    const tool = stage.tool(paypalRefund(access));
    expect((await stage.call(tool, { captureId: "2GG" })).status).toBe(outcome);
  });
});

test("a refund carries the key, is keyed for 45 days, and asks for the whole answer", async () => {
  const stage = openStage();
  const { access, fake, made } = await openPaypal();
  const definition = paypalRefund(access);
  expect(definition.keyed?.forMs).toBe(45 * 24 * 3_600_000);
  const { key } = await stage.call(stage.tool(definition), { captureId: "2GG" });
  expect([...made.values()].map(({ custom_id }) => custom_id)).toEqual([key]);
  expect(fake.writes[0]?.headers).toMatchObject({
    "paypal-request-id": key,
    prefer: "return=representation",
  });
});

test("an order that another operation captured is not taken for this one's", async () => {
  const stage = openStage();
  const { access, fake, effects } = await openPaypal();
  const tool = stage.tool(paypalOrderCapture(access));
  const args = { orderId: "5O1" };
  expect((await stage.call(tool, args, "of-another")).status).toBe("committed");
  fake.lose({ status: 503 });
  const outcome = await stage.call(tool, args, "request-1");
  // The second request is answered "already captured", which may be us.
  expect(outcome).toMatchObject({ status: "unknown", attempts: 2 });
  expect(effects()).toBe(1);
});
