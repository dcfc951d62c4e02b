/**
 * Bare `fetch` in p-retry, as its readme shows it: five retries with backoff, and `AbortError` for an answer that a
 * repetition does not change. It remembers nothing and sends no key.
 *
 * @module
 */

import pRetry, { AbortError } from "p-retry";
import { done, failed, KEEPS_NOTHING, type Stack } from "../stack.ts";
import { isRefusal, orderFrom, placeOrder } from "../tool-body.ts";

export const stack: Stack = {
  name: "fetch in p-retry",
  says: "bare fetch in p-retry with five retries, an AbortError for 4xx; no key",
  packages: ["p-retry"],
  reads: false,
  isHoldfire: false,
  needs: [],
  setUp: async (tool) => ({
    ...KEEPS_NOTHING,
    async call(ask) {
      const once = async () => {
        try {
          return await placeOrder(tool, orderFrom(ask), {});
        } catch (error) {
          if (isRefusal(error)) throw new AbortError(error as Error);
          throw error;
        }
      };
      try {
        await pRetry(once, { retries: 5 });
        return done();
      } catch (error) {
        return failed(error);
      }
    },
  }),
};
