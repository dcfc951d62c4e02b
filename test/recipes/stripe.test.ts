import Stripe from "stripe";
import { expect, test } from "vitest";
import { ownRetries } from "../../src/integrations/stripe/index.ts";
import { stripePayment, stripeRefund } from "../../src/recipes/stripe.ts";
import { type FakeAnswer, type FakeRequest, type FakeService, startFake } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage, type Stage } from "./stage.ts";

interface Kept {
  readonly id: string;
  readonly object: string;
  readonly payment_intent?: string | undefined;
  readonly customer?: string | undefined;
  readonly created: number;
  readonly metadata: Record<string, string>;
}

/** Stripe as documented: a key is answered with the first result, lists are newest first and in pages. */
function fakeStripe(now: () => number) {
  const kept: Kept[] = [];
  const answers = new Map<string, FakeAnswer>();
  const create = ({ path, headers, text }: FakeRequest): FakeAnswer => {
    const key = `${headers["idempotency-key"]}`;
    const known = answers.get(key);
    if (known) return { ...known, headers: { "idempotent-replayed": "true" } };
    const form = new URLSearchParams(text);
    const made: Kept = {
      id: `${path === "/v1/refunds" ? "re" : "pi"}_${kept.length + 1}`,
      object: path === "/v1/refunds" ? "refund" : "payment_intent",
      payment_intent: form.get("payment_intent") ?? undefined,
      customer: form.get("customer") ?? undefined,
      created: Math.floor(now() / 1_000),
      metadata: { holdfire_key: form.get("metadata[holdfire_key]") ?? "" },
    };
    kept.unshift(made);
    answers.set(key, { body: made });
    return { body: made };
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

const clientOf = ({ url }: FakeService, { hf }: Stage) => {
  const { hostname, port } = new URL(url);
  const options = { host: hostname, port, protocol: "http", telemetry: false } as const;
  return ownRetries(new Stripe("sk_test_x", options), hf);
};

async function open(stage: Stage) {
  const { kept, handle } = fakeStripe(stage.clock.now);
  const fake = await startFake(handle);
  return { fake, kept, client: clientOf(fake, stage), effects: () => kept.length };
}

const foreign = (now: number, object: string): Kept => ({
  id: `foreign_${object}`,
  object,
  payment_intent: "pi_7",
  customer: "cus_7",
  created: Math.floor(now / 1_000),
  metadata: { holdfire_key: "0190a5b2-0000-8000-8000-000000000000" },
});

recipeContract("stripeRefund", {
  licence: "keyed",
  open: async (stage) => {
    const { kept, client, ...rest } = await open(stage);
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
    const { kept, client, ...rest } = await open(stage);
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
  const { fake, client } = await open(stage);
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
  const { fake, kept, client } = await open(stage);
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
