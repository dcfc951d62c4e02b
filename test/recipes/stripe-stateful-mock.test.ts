import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import Stripe from "stripe";
import { expect, onTestFinished, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { ownRetries } from "../../src/integrations/stripe/index.ts";
import { stripeRefund } from "../../src/recipes/payments/stripe.ts";
import { memoryStore } from "../../src/stores/memory.ts";

// It has no types, and logs every request unless it is told not to.
process.env.LOG_LEVEL = "silent";
const { createExpressApp } = createRequire(import.meta.url)("stripe-stateful-mock") as {
  createExpressApp(): RequestListener;
};

/** A Stripe mock of another project, behind a wire that loses what it is told to lose. */
async function openStripe() {
  const app = createExpressApp();
  const lost = { requests: 0, replies: 0 };
  let refundRequests = 0;
  const server = createServer((request, response) => {
    const isRefund = request.method === "POST" && request.url?.startsWith("/v1/refunds");
    if (isRefund) {
      refundRequests += 1;
      if (lost.requests-- > 0) return request.socket.destroy();
      if (lost.replies-- > 0) loseReply(response);
    }
    return app(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const hf = createHoldfire({
    store: memoryStore(),
    retry: { minDelayMs: 1, maxDelayMs: 1 },
  });
  onTestFinished(async () => {
    await hf.close();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const options = { host: "127.0.0.1", port, protocol: "http", telemetry: false } as const;
  const client = ownRetries(new Stripe("sk_test_x", options), hf);
  const { id: charge } = await client.charges.create({
    amount: 4_000,
    currency: "usd",
    source: "tok_visa",
  });
  const refund = hf.tool(stripeRefund({ client }));
  const refunded = async () => (await client.refunds.list({ charge })).data;
  return { refund, charge, lost, refunded, refundRequests: () => refundRequests };
}

/** The work is done, and its reply is lost. */
function loseReply(response: ServerResponse): void {
  response.end = () => {
    response.socket?.destroy();
    return response;
  };
  response.write = () => true;
}

test("a refund whose reply is lost is found in the list, and was made once", async () => {
  const { refund, charge, lost, refunded, refundRequests } = await openStripe();
  lost.replies = 1;
  const outcome = await refund.outcome({ payment: charge, amount: 400 }, { scope: "order-7" });
  const all = await refunded();
  expect(all).toHaveLength(1);
  expect(outcome).toMatchObject({ status: "committed", result: { id: all[0]?.id, amount: 400 } });
  expect(refundRequests()).toBe(1);
});

test("a refund that never arrived is sent again under its key, and is made once", async () => {
  const { refund, charge, lost, refunded, refundRequests } = await openStripe();
  lost.requests = 1;
  const outcome = await refund.outcome({ payment: charge, amount: 400 }, { scope: "order-7" });
  expect(outcome.status).toBe("committed");
  expect(await refunded()).toHaveLength(1);
  expect(refundRequests()).toBe(2);
});

test("asked twice in two scopes it is two refunds, and neither takes the other for its own", async () => {
  const { refund, charge, lost, refunded } = await openStripe();
  const first = await refund({ payment: charge, amount: 400 }, { scope: "order-7" });
  lost.replies = 1;
  const second = await refund({ payment: charge, amount: 400 }, { scope: "order-8" });
  expect(second.id).not.toBe(first.id);
  expect((await refunded()).map(({ id }) => id).sort()).toEqual([first.id, second.id].sort());
});
