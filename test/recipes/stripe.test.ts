import { expect, test } from "vitest";
import { stripePayment, stripeRefund } from "../../src/recipes/payments/stripe.ts";
import { foreign, openStripe } from "./fake-stripe.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage } from "./stage.ts";

recipeContract("stripeRefund", {
  licence: "keyed",
  open: async (stage) => {
    const { kept, client, ...rest } = await openStripe(stage);
    return {
      ...rest,
      definition: stripeRefund({ client }),
      args: { payment: "pi_7", amount: 400 },
      makeForeign: () => void kept.unshift(foreign(stage.clock.now(), "refund")),
    };
  },
});

recipeContract("stripePayment", {
  licence: "keyed",
  open: async (stage) => {
    const { kept, client, ...rest } = await openStripe(stage);
    return {
      ...rest,
      definition: stripePayment({ client }),
      args: { amount: 400, currency: "eur", customer: "cus_7" },
      makeForeign: () => void kept.unshift(foreign(stage.clock.now(), "payment_intent")),
    };
  },
});

test("one key goes out as the idempotency key and as metadata, on every attempt", async () => {
  const stage = openStage();
  const { fake, client } = await openStripe(stage);
  fake.lose("before");
  const outcome = await stage.call(stage.tool(stripeRefund({ client })), { payment: "pi_7" });
  const sent = fake.writes.map(({ headers, text }) => [
    headers["idempotency-key"],
    new URLSearchParams(text).get("metadata[holdfire_key]"),
  ]);
  expect(sent).toEqual([
    [outcome.key, outcome.key],
    [outcome.key, outcome.key],
  ]);
});

test("a refund behind hundreds of others is found, page by page", async () => {
  const stage = openStage();
  const { fake, kept, client } = await openStripe(stage);
  const tool = stage.tool(stripeRefund({ client }));
  fake.lose("after");
  const bury = (count: number) => {
    for (let n = 0; n < count; n += 1) {
      kept.unshift({ ...foreign(stage.clock.now(), "refund"), id: `other_${n}` });
    }
  };
  const { list } = client.refunds;
  client.refunds.list = ((...args: Parameters<typeof list>) => {
    if (kept.length === 1) bury(250);
    return list.apply(client.refunds, args);
  }) as typeof list;
  expect(await stage.call(tool, { payment: "pi_7" })).toMatchObject({ status: "committed" });
  expect(fake.reads.map(({ query }) => query.get("starting_after") !== null)).toEqual([
    false,
    true,
    true,
  ]);
});

test("a list that does not end is no absence, and two with one key are an alarm", async () => {
  const { readState } = stripeRefund({
    client: {
      refunds: {
        create: () => Promise.reject(new Error("not asked")),
        list: async () => ({ data: [{ id: "re_1", metadata: {} }], has_more: true }),
      },
    },
  });
  const query = {
    intent: { payment: "pi_7" },
    key: "k",
    keys: ["k"],
    firstSentAt: 0,
    taken: async () => false,
    fetch: globalThis.fetch,
    signal: AbortSignal.abort(),
  };
  expect(await readState?.(query)).toMatchObject({ reading: "cannot_tell" });

  const two = ["re_1", "re_2", "re_2"].map((id) => ({ id, metadata: { holdfire_key: "k" } }));
  const twice = stripeRefund({
    client: {
      refunds: {
        create: () => Promise.reject(new Error("not asked")),
        list: async () => ({ data: two, has_more: false }),
      },
    },
  });
  expect(await twice.readState?.(query)).toEqual({
    reading: "duplicated",
    results: [two[0], two[2]],
  });
});
