/**
 * Stacks that do wrong on purpose: one sends twice, one forgets what it sent, one calls every doubt a failure, one sends
 * nothing. A battery that does not catch them proves nothing.
 *
 * @module
 */

import { type Answer, done, failed, KEEPS_NOTHING, type Stack, unknown } from "../stack.ts";
import { orderFrom, placeOrder, type Receipt } from "../tool-body.ts";

const planted = (name: string, act: (send: () => Promise<Receipt>) => Promise<Answer>): Stack => ({
  name,
  says: "planted",
  packages: [],
  reads: false,
  isHoldfire: false,
  needs: [],
  setUp: async (tool) => ({
    ...KEEPS_NOTHING,
    call: (ask) => act(() => placeOrder(tool, orderFrom(ask), {})),
  }),
});

export const twice: Stack = planted("sends twice", async (send) => {
  await send().catch(() => {});
  await send().catch(() => {});
  return done();
});

export const loses: Stack = planted("sends, and does not look", async (send) => {
  await send().catch(() => {});
  return done();
});

export const lies: Stack = planted("calls a doubt a failure", async (send) => {
  try {
    await send();
    return done();
  } catch (error) {
    return failed(error);
  }
});

export const holds: Stack = planted("sends nothing", async () => unknown("not sent"));
