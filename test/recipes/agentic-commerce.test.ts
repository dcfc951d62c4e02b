import { describe, expect, test } from "vitest";
import { checkoutComplete, checkoutSession } from "../../src/recipes/payments/agentic-commerce.ts";
import { type FakeRequest, startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { rememberKeys } from "./remember-keys.ts";
import { openStage } from "./stage.ts";

/** A merchant by rfcs/rfc.agentic_checkout.md: section 4 for the answers, section 6 for the keys. */
async function openMerchant() {
  const sessions = new Map<string, { id: string; status: string; order?: { id: string } }>();
  let declined = false;
  const make = ({ path, headers }: FakeRequest) => {
    if (headers["api-version"] === undefined) return { status: 400, body: { code: "missing" } };
    const id = /checkout_sessions\/(\w+)\/complete$/.exec(path)?.[1];
    if (id === undefined) {
      if (declined) return { status: 400, body: { type: "invalid_request", code: "invalid" } };
      const made = { id: `cs_${sessions.size + 1}`, status: "ready_for_payment" };
      sessions.set(made.id, made);
      return { status: 201, body: made };
    }
    const completed = { id, status: "completed", order: { id: `ord_${id}` } };
    // A declined payment leaves the session as it was, with a message.
    const messages = [{ type: "error", code: "payment_declined", content: "Declined" }];
    if (declined) return { body: { id, status: "ready_for_payment", messages } };
    sessions.set(id, completed);
    return { body: completed };
  };
  const post = rememberKeys({
    keyOf: ({ headers }) => `${headers["idempotency-key"]}`,
    make,
    keeps: ({ status = 200 }) => status < 500,
    again: (answer) => ({ ...answer, headers: { "idempotent-replayed": "true" } }),
    mismatch: {
      status: 422,
      body: { type: "invalid_request", code: "idempotency_conflict", message: "Used before" },
    },
  });
  const fake = await startFake((request) => {
    if (request.method !== "GET") return post(request);
    const id = request.path.split("/").at(-1) ?? "";
    return { body: sessions.get(id) ?? { id, status: "ready_for_payment" } };
  });
  return {
    fake,
    access: { authorization: "Bearer x", baseUrl: fake.url },
    sessions,
    decline: () => {
      declined = true;
    },
  };
}

recipeContract("checkoutSession", {
  licence: "keyed",
  finds: false,
  says: true,
  open: async () => {
    const { access, sessions, ...rest } = await openMerchant();
    const args = { items: [{ id: "item_1", quantity: 1 }] };
    return { ...rest, definition: checkoutSession(access), args, effects: () => sessions.size };
  },
});

recipeContract("checkoutComplete", {
  licence: "keyed",
  says: true,
  once: true,
  open: async () => {
    const { access, sessions, ...rest } = await openMerchant();
    const args = { sessionId: "cs1", payment_data: { token: "spt_1" } };
    const reworded = { ...args, payment_data: { token: "spt_2" } };
    const definition = checkoutComplete(access);
    return { ...rest, definition, args, reworded, effects: () => sessions.size };
  },
});

describe("a session that is found after a lost reply", () => {
  test.each([
    ["completed, with an order", { status: "completed", order: { id: "o1" } }, "committed"],
    ["completed, without an order", { status: "completed" }, "cannot_tell"],
    ["in_progress", { status: "in_progress" }, "in_progress"],
    ["ready_for_payment", { status: "ready_for_payment" }, "absent"],
    ["canceled", { status: "canceled" }, "cannot_tell"],
  ])("%s", async (_, session, reading) => {
    const stage = openStage();
    const fake = await startFake(({ method }) =>
      method === "GET" ? { body: { id: "cs1", ...session } } : { status: 503 },
    );
    const definition = checkoutComplete({ authorization: "Bearer x", baseUrl: fake.url });
    const args = { sessionId: "cs1", payment_data: { token: "spt_1" } };
    await stage.call(stage.tool(definition), args);
    expect(stage.readings[0]?.reading.reading).toBe(reading);
    expect(fake.reads[0]?.headers["api-version"]).toBe("2026-01-16");
  });
});

test("the payment is not in the intent", async () => {
  const { access } = await openMerchant();
  const args = { sessionId: "cs1", payment_data: { token: "spt_1" } };
  expect(checkoutComplete(access).intent?.(args)).toEqual({ sessionId: "cs1" });
});
