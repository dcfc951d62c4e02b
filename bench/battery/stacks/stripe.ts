/**
 * An SDK with its defaults: stripe-node, which repeats a failed request twice under a key of its own, a new one for
 * each call. Its `fetch` leads its requests to the service of the battery; nothing else is changed but the timeout.
 *
 * @module
 */

import Stripe from "stripe";
import { done, failed, KEEPS_NOTHING, type Stack } from "../stack.ts";
import { orderFrom, pass, requestOf } from "../tool-body.ts";

export const stack: Stack = {
  name: "SDK defaults",
  says: "stripe-node as it comes: two retries, a key of its own for each call",
  packages: ["stripe"],
  reads: false,
  isHoldfire: false,
  needs: [],
  setUp: async (tool) => ({
    ...KEEPS_NOTHING,
    async call(ask) {
      const order = orderFrom(ask);
      const { method, url } = requestOf(tool, order);
      const send: typeof fetch = async (_to, init) => {
        pass(order.item, "before_send");
        const response = await fetch(url, { ...init, method });
        pass(order.item, "after_reply");
        return response;
      };
      const stripe = new Stripe("sk_test_battery", {
        httpClient: Stripe.createFetchHttpClient(send),
        timeout: tool.timeoutMs,
        telemetry: false,
      });
      const precondition = tool.class === "conditional" ? { "if-none-match": "*" } : {};
      try {
        // Paths of its second version carry JSON.
        await stripe.rawRequest(
          "POST",
          "/v2/battery/orders",
          { ...order },
          {
            additionalHeaders: precondition,
          },
        );
        return done();
      } catch (error) {
        return failed(error);
      }
    },
  }),
};
