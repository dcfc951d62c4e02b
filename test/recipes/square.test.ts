import { describe, expect, test } from "vitest";
import { squarePayment } from "../../src/recipes/payments/square.ts";
import { startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { rememberKeys } from "./remember-keys.ts";
import { openStage } from "./stage.ts";

/**
 * Square as documented: a payment has its `reference_id` in the list; a key of another request is 400, IDEMPOTENCY_KEY_REUSED
 * (developer.squareup.com/docs/build-basics/common-api-patterns/idempotency); a declined card is an error of PAYMENT_METHOD_ERROR.
 */
async function openSquare(status = "COMPLETED") {
  const kept: { id: string; status: string; reference_id: unknown }[] = [];
  let declined = false;
  const add = (reference_id: unknown) => {
    const payment = { id: `pay_${kept.length + 1}`, status, reference_id };
    kept.push(payment);
    return payment;
  };
  const errors = (code: string) => ({ errors: [{ category: "PAYMENT_METHOD_ERROR", code }] });
  const pay = rememberKeys({
    keyOf: ({ json }) => `${json?.idempotency_key}`,
    make: ({ json }) =>
      declined
        ? { status: 400, body: errors("CARD_DECLINED") }
        : { body: { payment: add(json?.reference_id) } },
    mismatch: { status: 400, body: errors("IDEMPOTENCY_KEY_REUSED") },
  });
  const fake = await startFake((request) => {
    if (request.method !== "GET") return pay(request);
    return { body: kept.length > 0 ? { payments: kept } : {} };
  });
  const access = { authorization: "Bearer x", baseUrl: fake.url };
  return {
    fake,
    kept,
    careful: squarePayment(access),
    definition: squarePayment({ ...access, windowCoversLag: true }),
    effects: () => kept.length,
    makeForeign: () => void add("order-7"),
    decline: () => {
      declined = true;
    },
  };
}

const ARGS = {
  source_id: "cnon:ok",
  amount_money: { amount: 400, currency: "USD" },
  location_id: "L1",
};

recipeContract("squarePayment", {
  licence: "absent",
  recognises: true,
  says: true,
  open: async () => ({ ...(await openSquare()), args: ARGS, reworded: { ...ARGS, note: "x" } }),
});

test("without a published window the key licenses nothing, and a list that may lag proves no absence", async () => {
  const stage = openStage();
  const { fake, careful, effects } = await openSquare();
  expect(careful.keyed).toBeUndefined();
  fake.lose("before");
  const tool = stage.tool({ ...careful, commitsWithinMs: 2_000 });
  expect(await stage.call(tool, ARGS)).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  expect([fake.writes.length, effects()]).toEqual([1, 0]);
});

describe("the status of a payment whose reply was lost", () => {
  test.each([
    ["COMPLETED", ARGS, "committed"],
    ["APPROVED", ARGS, "in_progress"],
    ["APPROVED", { ...ARGS, autocomplete: false }, "committed"],
    ["PENDING", ARGS, "in_progress"],
    ["CANCELED", ARGS, "cannot_tell"],
    ["FAILED", ARGS, "absent"],
  ])("%s", async (status, args, reading) => {
    const stage = openStage();
    const { fake, definition } = await openSquare(status);
    fake.lose("after");
    await stage.call(stage.tool(definition), args);
    expect(stage.readings[0]?.reading.reading).toBe(reading);
  });
});
