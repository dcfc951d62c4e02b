import { describe, expect, test } from "vitest";
import { faults } from "../../src/testing/faulty-service.ts";
import { keysOf, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

describe("a resend that is answered 409: the first request is still at work (keyed)", () => {
  const busy = faults.status({ status: 409 });

  test("uses up no attempt: the key is sent again until it is answered", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.commitThenReset(), busy, busy, busy, busy);
    const outcome = await pass(order("keyed", { attempts: 2 }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 6 });
    expect(new Set(keysOf(service)).size).toBe(1);
    expect(service.effects).toHaveLength(1);
  });

  test("for no longer than the call waits", async () => {
    const { service, order, pass, clock } = await openWorld();
    service.plan(faults.commitThenReset());
    service.always(busy);
    const keyed = order("keyed", { attempts: 2, deadlineMs: 10_000 });
    expect(await pass(keyed.outcome(TEA, ONCE))).toMatchObject({
      status: "unknown",
      reason: "deadline",
    });
    expect(clock.monotonic()).toBeLessThanOrEqual(10_000);
    expect(service.effects).toHaveLength(1);
  });

  test("not where every request was answered so: that may be a conflict of another kind", async () => {
    const { service, order, pass } = await openWorld();
    service.always(busy);
    const outcome = await pass(order("keyed", { attempts: 2 }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", attempts: 2 });
  });
});
