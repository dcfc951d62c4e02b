import Stripe from "stripe";
import { describe, expect, it } from "vitest";
import { ownRetries } from "../../../src/integrations/stripe/index.ts";
import { type CountingServer, FAILURES, json } from "../../servers/counting-server.ts";
import { count, fire, openHoldfire, serve } from "../shared/owning.ts";

const clientOf = ({ port, patienceMs }: CountingServer, options: object = {}) =>
  new Stripe("sk_test_x", {
    host: "127.0.0.1",
    port,
    protocol: "http",
    telemetry: false,
    timeout: patienceMs,
    ...options,
  });
const pay = (stripe: Stripe, options?: Stripe.RequestOptions) =>
  stripe.charges.create({ amount: 1, currency: "usd" }, options);

describe.each(FAILURES)("when the service fails by %s", (failure) => {
  it("one call is one request", async () => {
    const hf = openHoldfire();
    expect(await count(failure, (server) => pay(ownRetries(clientOf(server), hf)))).toBe(1);
  });

  it("a call that asks for retries is one request, too", async () => {
    const hf = openHoldfire();
    const call = (server: CountingServer) =>
      pay(ownRetries(clientOf(server), hf), { maxNetworkRetries: 3 });
    expect(await count(failure, call)).toBe(1);
  });

  it("a tool at three attempts is three requests with one key", async () => {
    const hf = openHoldfire();
    const server = await serve(failure);
    const stripe = ownRetries(clientOf(server), hf);
    await expect(fire(hf, 3, (key) => pay(stripe, { idempotencyKey: key }))).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN",
    });
    const keys = server.arrivals.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });
});

it("without being owned it sends a reset request again, even at 0", async () => {
  const call = (server: CountingServer) => pay(clientOf(server, { maxNetworkRetries: 0 }));
  expect(await count("reset", call)).toBe(2);
});

it("the error of a lost connection is Stripe's own", async () => {
  const hf = openHoldfire();
  const stripe = ownRetries(clientOf(await serve("reset")), hf);
  await expect(pay(stripe)).rejects.toBeInstanceOf(Stripe.errors.StripeConnectionError);
});

it("the client goes on working, and is the same", async () => {
  const hf = openHoldfire();
  const stripe = clientOf(await serve(json({ id: "ch_1", object: "charge" })));
  expect(ownRetries(ownRetries(stripe, hf), hf)).toBe(stripe);
  expect(await pay(stripe)).toMatchObject({ id: "ch_1" });
});

it("owns no other client", async () => {
  const hf = openHoldfire();
  const server = await serve("503");
  ownRetries(clientOf(server), hf);
  await pay(clientOf(server, { maxNetworkRetries: 1 })).catch(() => {});
  expect(server.arrivals).toHaveLength(2);
});
