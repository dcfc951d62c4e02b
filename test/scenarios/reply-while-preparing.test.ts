/** The reply of an attempt whose time was up comes while the next one is prepared: that one is not sent. */
import { expect, test } from "vitest";
import type { AttemptContext } from "../../src/engine/define/definition.ts";
import type { Store } from "../../src/ledger/store.ts";
import { type FailingStore, failingStore } from "../engine/failing-store.ts";
import { openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

/** A keyed tool whose runs end when the test says so, on a store that can be kept waiting. */
async function opened() {
  const stores: FailingStore[] = [];
  const store = (now: () => number): Store => {
    const one = failingStore({ now, forgets: "accepted" });
    stores.push(one);
    return one;
  };
  const world = await openWorld({ store });
  const keys: string[] = [];
  /** Each ends its run with what the service has made. */
  const runs: ((made: { id: string; item: string }) => void)[] = [];
  const signals: AbortSignal[] = [];
  const run = (_: unknown, { key, signal }: AttemptContext) => {
    keys.push(key);
    signals.push(signal);
    return new Promise((resolve) => runs.push(resolve));
  };
  const order = world.order("keyed", { run: run as never });
  const [failing] = stores;
  if (!failing) throw new Error("The world has no store.");
  return { ...world, failing, runs, keys, signals, order };
}

test("a reply that comes while the store writes down the next attempt: that one is not sent", async () => {
  const { clock, failing, runs, order, pass, hf } = await opened();
  const call = order.outcome(TEA, ONCE);
  await clock.advance(9_999);
  failing.fail("hangs", (_, change) => change?.record?.fired === 2);
  await clock.advance(300);
  expect(runs).toHaveLength(1);
  runs[0]?.({ id: "e1", item: "tea" });
  await clock.settle();
  failing.recover();
  const outcome = await pass(call);
  expect(outcome).toMatchObject({ status: "committed", attempts: 1, result: { id: "e1" } });
  expect(runs).toHaveLength(1);
  // It was written down, and taken back: nobody waits for what never left.
  expect(await hf.operations.get(outcome.id)).toMatchObject({ status: "committed", fired: 1 });
});

test("without one, the next attempt is sent once it is written down", async () => {
  const { clock, failing, runs, keys, signals, order, pass } = await opened();
  const call = order.outcome(TEA, ONCE);
  await clock.advance(9_999);
  failing.fail("hangs", (_, change) => change?.record?.fired === 2);
  await clock.advance(300);
  // Slow is not lost: until another one is sent, the first may end.
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  failing.recover();
  await clock.advance(300);
  expect(runs).toHaveLength(2);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect(keys[1]).toBe(keys[0]);
  runs[1]?.({ id: "e1", item: "tea" });
  expect(await pass(call)).toMatchObject({ status: "committed", attempts: 2, licence: "keyed" });
});
