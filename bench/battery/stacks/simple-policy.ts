/**
 * The simple policy, which needs no library: send the key of the call again if the service takes keys, else send once
 * and never again. What got no clear answer is called unknown. It remembers nothing.
 *
 * @module
 */

import pRetry, { AbortError } from "p-retry";
import { type Answer, done, failed, KEEPS_NOTHING, keyOf, type Stack, unknown } from "../stack.ts";
import { isRefusal, orderFrom, placeOrder } from "../tool-body.ts";

const answerTo = (error: unknown): Answer => (isRefusal(error) ? failed(error) : unknown(error));

export const stack: Stack = {
  name: "key or never",
  says: "the key of the call, sent again if the service takes keys; else one request and no retry",
  packages: ["p-retry"],
  reads: false,
  isHoldfire: false,
  needs: [],
  setUp: async (tool) => ({
    ...KEEPS_NOTHING,
    async call(ask) {
      const once = async () => {
        try {
          return await placeOrder(tool, orderFrom(ask), { key: keyOf(ask) });
        } catch (error) {
          if (isRefusal(error)) throw new AbortError(error as Error);
          throw error;
        }
      };
      try {
        await pRetry(once, { retries: tool.class === "keyed" ? 3 : 0 });
        return done();
      } catch (error) {
        return answerTo(error);
      }
    },
  }),
};
