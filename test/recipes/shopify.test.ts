import { describe, expect, test } from "vitest";
import { shopifyRefund } from "../../src/recipes/payments/shopify.ts";
import { type FakeAnswer, type FakeRequest, startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { rememberKeys } from "./remember-keys.ts";
import { openStage } from "./stage.ts";

const userError = (code: string | null): FakeAnswer => ({
  body: { data: { refundCreate: { refund: null, userErrors: [{ code, message: "No." }] } } },
});

/** Shopify as documented: the key is in the directive; errors about it are `userErrors` in a 200. */
async function openShopify(next?: FakeAnswer) {
  let count = 0;
  let declined = false;
  const variables = ({ json }: FakeRequest) => (json?.variables ?? {}) as Record<string, unknown>;
  const fake = await startFake(
    rememberKeys({
      keyOf: (request) =>
        `${request.json?.query}`.includes("refundCreate(input: $input) @idempotent(key: $key)")
          ? `${variables(request).key}`
          : "",
      make: () => {
        if (next) return next;
        if (declined) return userError(null);
        count += 1;
        const refund = { id: `gid://shopify/Refund/${count}` };
        return { body: { data: { refundCreate: { refund, userErrors: [] } } } };
      },
      mismatch: userError("IDEMPOTENCY_KEY_PARAMETER_MISMATCH"),
    }),
  );
  const definition = shopifyRefund({ authorization: "shpat", baseUrl: fake.url });
  const decline = () => {
    declined = true;
  };
  return { fake, definition, effects: () => count, decline };
}

const ARGS = {
  orderId: "gid://shopify/Order/1",
  transactions: [{ amount: "4.00", kind: "REFUND", gateway: "cash" }],
};

recipeContract("shopifyRefund", {
  licence: "keyed",
  finds: false,
  says: true,
  open: async () => ({ ...(await openShopify()), args: ARGS, reworded: { ...ARGS, note: "x" } }),
});

describe("an error in a 200", () => {
  const errors = (code: string): FakeAnswer => ({ body: { errors: [{ extensions: { code } }] } });

  test.each([
    ["THROTTLED", errors("THROTTLED"), "refused"],
    ["ACCESS_DENIED", errors("ACCESS_DENIED"), "rejected"],
    ["INTERNAL_SERVER_ERROR", errors("INTERNAL_SERVER_ERROR"), "unknown"],
    ["a user error", userError("INVALID"), "rejected"],
    ["a key at work", userError("IDEMPOTENCY_CONCURRENT_REQUEST"), "unknown"],
    ["a key that failed", userError("IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED"), "unknown"],
  ])("%s", async (_, answer, verdict) => {
    const stage = openStage();
    const { fake, definition } = await openShopify(answer);
    const verdicts: string[] = [];
    stage.hf.on("verdict", (event) => verdicts.push(event.verdict));
    await stage.call(stage.tool(definition), ARGS);
    expect(verdicts[0]).toBe(verdict);
    expect(fake.writes[0]?.headers["x-shopify-access-token"]).toBe("shpat");
  });
});

test("a refund that was made beside an error is not called rejected, and `retry` makes no second", async () => {
  const refund = { id: "gid://shopify/Refund/1" };
  const userErrors = [{ code: null, message: "The restock failed." }];
  const denied = [{ extensions: { code: "ACCESS_DENIED" }, path: ["refundCreate", "refund"] }];
  for (const body of [
    { data: { refundCreate: { refund, userErrors } } },
    { data: { refundCreate: { refund: null, userErrors: [] } }, errors: denied },
  ]) {
    const stage = openStage();
    const { fake, definition } = await openShopify({ body });
    const tool = stage.tool(definition);
    expect(await stage.call(tool, ARGS)).toMatchObject({ status: "unknown" });
    const again = { scope: "request-1", retry: "the customer asks" };
    await stage.clock.run(tool.outcome(ARGS, again), () => true);
    const keys = fake.writes.map(
      ({ json }) => (json?.variables as { key?: string } | undefined)?.key,
    );
    expect(new Set(keys).size).toBe(1);
  }
});
