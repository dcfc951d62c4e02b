/** An owner that did nothing, and that the ledger does not answer any more: what it says once its lease is over. */
import { expect, test } from "vitest";
import { notApplied } from "../../src/index.ts";
import { type FailingStore, failingStore } from "../engine/failing-store.ts";
import { until } from "../engine/virtual-clock.ts";
import { openWorld, TEA } from "./world.ts";

test.each([
  ["committed by another meanwhile", 12_000, { status: "unknown", reason: "lease_lost" }],
  ["still its own", 1_000, { status: "not_applied", reason: "rejected" }],
])("one that is %s", async (_, takesMs, told) => {
  const made: FailingStore[] = [];
  const { another, order, pass, clock } = await openWorld({
    store: (now) => {
      const failing = failingStore({ now, forgets: "accepted" });
      made.push(failing);
      return failing;
    },
  });
  const [failing] = made as [FailingStore];
  const { fail: _fail, recover: _recover, asked: _asked, ...shared } = failing;
  // The other process reaches the same ledger.
  let isCut = false;
  const cut = <A extends unknown[], T>(ask: (...args: A) => Promise<T>) => {
    return (...args: A): Promise<T> => (isCut ? new Promise<never>(() => {}) : ask(...args));
  };
  const cutOff = another({
    store: { ...shared, swap: cut(shared.swap), read: cut(shared.read) },
  });
  let fired = 0;
  const options = (run: () => Promise<{ id: string }>) => ({ run, attempts: 1 }) as never;
  const declined = async () => {
    fired += 1;
    await new Promise<void>((resolve) => clock.after(takesMs, resolve));
    throw notApplied("not now");
  };
  const slow = order("keyed", options(declined), cutOff);
  const first = slow.outcome(TEA, { scope: "s" });
  await until(() => fired === 1);
  isCut = true;
  const other = order(
    "keyed",
    options(async () => ({ id: "effect-1" })),
  );
  const second = other.outcome(TEA, { scope: "s", deadlineMs: 60_000 });
  expect(await pass(first)).toMatchObject({ ...told, recorded: false });
  expect(await pass(second)).toMatchObject({ status: "committed" });
});
