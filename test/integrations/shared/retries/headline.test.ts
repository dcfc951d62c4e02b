/** The README's headline, counted: three loops around one call, as they come and with one owner. */
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import pRetry, { type Options } from "p-retry";
import Stripe from "stripe";
import { describe, expect, it } from "vitest";
import { isHoldfireError } from "../../../../src/errors.ts";
import { ownRetries } from "../../../../src/integrations/stripe/index.ts";
import type { CountingServer } from "../../../servers/counting-server.ts";
import { count, openHoldfire } from "../owning.ts";

const clientOf = ({ port }: CountingServer) =>
  new Stripe("sk_test_x", { host: "127.0.0.1", port, protocol: "http", telemetry: false });
const charge = (stripe: Stripe, idempotencyKey?: string) =>
  stripe.charges.create({ amount: 400, currency: "usd" }, idempotencyKey ? { idempotencyKey } : {});

/** p-retry around a LangGraph node around the call, three tries each. */
function inLoops(call: () => Promise<unknown>, options: Options = {}): Promise<unknown> {
  const retryPolicy = { initialInterval: 1, jitter: false, logWarning: false };
  const graph = new StateGraph(Annotation.Root({ done: Annotation<boolean>() }))
    .addNode("pay", async () => ({ done: Boolean(await call()) }), { retryPolicy })
    .addEdge(START, "pay")
    .compile();
  return pRetry(() => graph.invoke({ done: false }), { retries: 2, minTimeout: 1, ...options });
}

function guarded(
  server: CountingServer,
  rules: { readonly keyed?: { readonly forMs: number } },
  options?: Options,
): Promise<unknown> {
  const hf = openHoldfire();
  const stripe = ownRetries(clientOf(server), hf);
  const pay = hf.tool({
    name: "charge",
    kind: "write",
    ...rules,
    run: async (_: object, { key }) => (await charge(stripe, key)).id,
  });
  return hf.scope("order-7", () => inLoops(() => pay({}), options));
}

describe("one call to a service that answers 503, in p-retry, in LangGraph, in Stripe's client", () => {
  const keyed = { keyed: { forMs: 24 * 3_600_000 } };

  it("is 27 requests as they come", async () => {
    const call = (server: CountingServer) => inLoops(() => charge(clientOf(server)));
    expect(await count("503", call)).toBe(27);
  });

  it("is 3 with one owner, if p-retry asks whether to go on", async () => {
    const shouldRetry: Options["shouldRetry"] = ({ error }) => !isHoldfireError(error);
    expect(await count("503", (server) => guarded(server, keyed, { shouldRetry }))).toBe(3);
  });

  it("is 9 under one key, if p-retry does not ask", async () => {
    const keys = new Set<unknown>();
    const call = async (server: CountingServer) => {
      const ended = guarded(server, keyed);
      await ended.catch(() => {});
      for (const { headers } of server.arrivals) keys.add(headers["idempotency-key"]);
      return ended;
    };
    expect(await count("503", call)).toBe(9);
    expect(keys.size).toBe(1);
  });

  it("is 1 where the service has neither key nor read", async () => {
    expect(await count("503", (server) => guarded(server, {}))).toBe(1);
  });
});
