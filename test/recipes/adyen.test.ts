import { describe, expect, test } from "vitest";
import { adyenPayment } from "../../src/recipes/payments/adyen.ts";
import { startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { rememberKeys } from "./remember-keys.ts";
import { openStage } from "./stage.ts";

/**
 * Adyen as documented: a known key gets the first answer; one that is being processed is 422 with errorCode 704, and here so is one
 * with another body, of which the documentation says nothing. A refused card is 200, resultCode Refused.
 */
async function openAdyen(resultCode = "Authorised") {
  let paid = 0;
  let code = resultCode;
  const fake = await startFake(
    rememberKeys({
      keyOf: ({ headers }) => `${headers["idempotency-key"]}`,
      make: () => {
        if (code === "Authorised") paid += 1;
        return { body: { pspReference: "8816", resultCode: code, refusalReason: "FRAUD" } };
      },
      mismatch: {
        status: 422,
        body: { status: 422, errorCode: "704", errorType: "validation", message: "in progress" },
      },
    }),
  );
  const definition = adyenPayment({ authorization: "key", baseUrl: fake.url });
  const decline = () => {
    code = "Refused";
  };
  return { fake, definition, effects: () => paid, decline };
}

const ARGS = {
  merchantAccount: "Acme",
  reference: "order-7",
  amount: { currency: "EUR", value: 400 },
  paymentMethod: { type: "scheme", storedPaymentMethodId: "s1" },
  returnUrl: "https://acme.example/back",
};

recipeContract("adyenPayment", {
  licence: "keyed",
  finds: false,
  says: true,
  open: async () => {
    const reworded = { ...ARGS, returnUrl: "https://acme.example/other" };
    return { ...(await openAdyen()), args: ARGS, reworded };
  },
});

describe("the result code", () => {
  test.each([
    ["Authorised", "committed"],
    ["Refused", "not_applied"],
    ["Cancelled", "not_applied"],
    ["Pending", "unknown"],
    ["RedirectShopper", "unknown"],
    ["Error", "unknown"],
  ])("%s", async (code, status) => {
    const stage = openStage();
    const { fake, definition } = await openAdyen(code);
    expect((await stage.call(stage.tool(definition), ARGS)).status).toBe(status);
    expect(fake.writes[0]?.headers["x-api-key"]).toBe("key");
  });
});

test("a validation error is a rejection; the payment method is not in the intent", async () => {
  const stage = openStage();
  const body = { status: 422, errorCode: "14_006", errorType: "validation" };
  const fake = await startFake(() => ({ status: 422, body }));
  const definition = adyenPayment({ authorization: "key", baseUrl: fake.url });
  expect(await stage.call(stage.tool(definition), ARGS)).toMatchObject({
    status: "not_applied",
    reason: "rejected",
  });
  expect(Object.keys(definition.intent?.(ARGS) ?? {})).not.toContain("paymentMethod");
});
