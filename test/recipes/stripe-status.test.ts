import { describe, expect, test } from "vitest";
import { stripePayment, stripeRefund } from "../../src/recipes/payments/stripe.ts";
import { openStripe } from "./fake-stripe.ts";
import { openStage } from "./stage.ts";

const PAYMENT = { amount: 400, currency: "eur", customer: "cus_7", confirm: true };
const DECLINED = { ...PAYMENT, payment_method: "pm_declined" };
const REFUND = { payment: "pi_7", amount: 400 };

async function open(options: { readonly commitsWithinMs?: number } = {}) {
  const stage = openStage();
  const { fake, kept, client } = await openStripe(stage);
  const pay = stage.tool({ ...stripePayment({ client }), ...options });
  const refund = stage.tool({ ...stripeRefund({ client }), ...options });
  return { stage, fake, kept, client, pay, refund };
}

describe("a card that is declined", () => {
  test("is a rejection, though Stripe has the payment", async () => {
    const { stage, fake, kept, pay } = await open();
    const outcome = await stage.call(pay, DECLINED);
    expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected", attempts: 1 });
    expect(kept).toMatchObject([{ status: "requires_payment_method", amount_received: 0 }]);
    expect(fake.writes).toHaveLength(1);
  });

  test("is not called done when the reply is lost: the key is sent again, and its answer is a no", async () => {
    const { stage, fake, kept, pay } = await open();
    fake.lose("after");
    const outcome = await stage.call(pay, DECLINED);
    expect(outcome).toMatchObject({ status: "unknown", reason: "rejected_in_doubt" });
    expect(stage.readings.map(({ reading }) => reading.reading)).not.toContain("committed");
    expect([fake.writes.length, kept.length]).toEqual([2, 1]);
  });

  test("is a rejection after a lost reply, too, where a window makes the read proof", async () => {
    const { stage, fake, kept, pay } = await open({ commitsWithinMs: 2_000 });
    fake.lose("after");
    const outcome = await stage.call(pay, DECLINED);
    expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected" });
    expect(kept).toHaveLength(1);
  });

  test("does not stand beside a payment that was taken later as a duplicate", async () => {
    const { stage, fake, kept, client, pay } = await open();
    await stage.call(pay, DECLINED);
    // The bank lets it pass now.
    const { create } = client.paymentIntents;
    client.paymentIntents.create = ((params: object, options: object) =>
      create.call(
        client.paymentIntents,
        { ...params, payment_method: "pm_1" } as never,
        options,
      )) as typeof create;
    fake.lose("after");
    const retried = pay.outcome(DECLINED, { scope: "request-1", retry: "the bank was called" });
    const outcome = await stage.clock.run(retried, () => true);
    expect(outcome).toMatchObject({ status: "committed", result: { status: "succeeded" } });
    expect([kept.length, stage.duplicates()]).toEqual([2, 0]);
  });
});

describe("a payment that is confirmed at once", () => {
  test("is committed when the money is taken, by its answer and by a read", async () => {
    for (const loss of ["after", undefined] as const) {
      const { stage, fake, pay } = await open();
      if (loss) fake.lose(loss);
      const outcome = await stage.call(pay, PAYMENT);
      expect(outcome).toMatchObject({ status: "committed", result: { amount_received: 400 } });
      expect(fake.writes).toHaveLength(1);
    }
  });

  test("is unknown while the customer must authenticate it, and committed when that is done", async () => {
    for (const loss of ["after", undefined] as const) {
      const { stage, fake, kept, pay } = await open();
      if (loss) fake.lose(loss);
      const args = { ...PAYMENT, payment_method: "pm_authenticate" };
      expect(await stage.call(pay, args)).toMatchObject({
        status: "unknown",
        reason: "unverified",
      });
      Object.assign(kept[0] ?? {}, { status: "succeeded", amount_received: 400 });
      const outcome = await stage.call(pay, args);
      expect(outcome).toMatchObject({ status: "committed", result: { amount_received: 400 } });
      expect(kept).toHaveLength(1);
    }
  });

  test("is in progress while it is processing, and read until it is taken", async () => {
    for (const loss of ["after", undefined] as const) {
      const { stage, fake, kept, pay } = await open();
      if (loss) fake.lose(loss);
      const outcome = await stage.call(pay, { ...PAYMENT, payment_method: "pm_debit" });
      expect(outcome).toMatchObject({ status: "unknown", reason: "in_progress" });
      expect(stage.readings.every(({ reading }) => reading.reading === "in_progress")).toBe(true);
      expect([fake.writes.length, kept.length]).toEqual([1, 1]);
    }
  });

  test.each(["requires_payment_method", "requires_confirmation", "canceled", "something_new"])(
    "is not guessed at where the status does not say: %s",
    async (status) => {
      const { stage, fake, kept, client, pay } = await open();
      fake.lose("after");
      const { list } = client.paymentIntents;
      client.paymentIntents.list = ((...args: Parameters<typeof list>) => {
        for (const one of kept) one.status = status;
        return list.apply(client.paymentIntents, args);
      }) as typeof list;
      await stage.call(pay, { ...PAYMENT, payment_method: "pm_authenticate" });
      expect(new Set(stage.readings.map(({ reading }) => reading.reading))).toEqual(
        new Set(["cannot_tell"]),
      );
    },
  );
});

describe("a refund", () => {
  test("that is pending is made", async () => {
    const { stage, fake, kept, client, refund } = await open();
    fake.lose("after");
    setStatus(kept, client.refunds, "pending");
    expect(await stage.call(refund, REFUND)).toMatchObject({
      status: "committed",
      result: { status: "pending" },
    });
  });

  test.each(["failed", "canceled", "requires_action"])(
    "that is %s is found, and not called done, by a read or by Stripe's stored answer",
    async (status) => {
      const { stage, fake, kept, client, refund } = await open();
      fake.lose("after");
      setStatus(kept, client.refunds, status);
      const outcome = await stage.call(refund, REFUND);
      expect(outcome).toMatchObject({ status: "unknown", reason: "unverified" });
      expect([fake.writes.length, kept.length]).toEqual([2, 1]);
    },
  );
});

type Refunds = Awaited<ReturnType<typeof open>>["client"]["refunds"];

/** What became of the refunds before they are first listed. */
function setStatus(kept: { status: string }[], refunds: Refunds, status: string): void {
  const { list } = refunds;
  refunds.list = ((...args: Parameters<typeof list>) => {
    for (const one of kept) one.status = status;
    return list.apply(refunds, args);
  }) as typeof list;
}
