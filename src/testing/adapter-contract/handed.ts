/**
 * What a caller hands to an adapter is read when the call is made: a caller who changes it afterwards changes nothing.
 *
 * @module
 */

import assert from "node:assert/strict";
import { faults } from "../faulty-service/faults.ts";
import type { HandedCall } from "./drive.ts";
import type { AdapterScenario } from "./scenarios.ts";
import { onStage, type Stage, until } from "./stage.ts";

const scenario = (name: string, play: (stage: Stage) => Promise<void>): AdapterScenario => ({
  name,
  run: (adapter) => onStage(adapter, play),
});

const scope = "conversation-7/turn-3";

/** The same words of a person, in a list of their own: as a program has them that loads them from its store. */
const handed = (more: Partial<HandedCall> = {}): HandedCall => ({
  args: { paymentId: "p1", amount: 400 },
  messages: [{ role: "user", content: scope }],
  scope,
  toolCallId: "call_1a2b3c4d5e6f7a8b9c0d1e2f",
  ...more,
});

const PAYMENTS = ["p1", "p2", "p3"];

/** For adapters that have a `hand`. */
export const handedScenarios: readonly AdapterScenario[] = Object.freeze([
  scenario(
    "one object of arguments, changed from call to call: each call sends what it said when it was made",
    async (stage) => {
      const call = await stage.start().hand();
      const args = { paymentId: "", amount: 400 };
      const calls = PAYMENTS.map((paymentId) => {
        args.paymentId = paymentId;
        return call(handed({ args, toolCallId: `call_9z8y7x6w5v4u3t2s1r_${paymentId}` }));
      });
      args.paymentId = "p4";
      await Promise.all(calls);
      assert.deepEqual(paidOn(stage), PAYMENTS, "what was paid");
      stage.expectCounts(3, 3);
    },
  ),

  scenario(
    "a resend sends what the call said, also once the arguments have changed",
    async (stage) => {
      stage.service.plan(faults.resetBefore());
      const args = { paymentId: "p1", amount: 400 };
      const pay = await stage.start({ readable: false }).hand();
      const call = pay(handed({ args }));
      await until(() => stage.service.arrivals.length === 1, "the first attempt has arrived");
      args.paymentId = "p2";
      await call;
      assert.deepEqual(paidOn(stage), ["p1"], "what was paid");
      stage.expectCounts(2, 1);
    },
  ),

  scenario("what a person says once the call is made is of another turn", async (stage) => {
    for (const isLater of [false, true]) {
      const messages = [...handed().messages];
      const pay = await stage.start().hand();
      const call = pay(handed({ messages }));
      if (isLater) await undefined;
      messages.push({ role: "user", content: "And hurry." });
      await call;
    }
    const again = await stage.start().hand();
    await again(handed());
    stage.expectCounts(1, 1);
  }),
]);

const paidOn = ({ service }: Stage): readonly unknown[] =>
  service.effects.map(({ intent }) => (intent as { paymentId?: unknown }).paymentId).sort();
