/**
 * Opening, watching and closing.
 *
 * @module
 */

import { expect, test } from "vitest";
import type { Store } from "../../ledger/store.ts";
import { recordOf } from "../record-of.ts";
import { create, mustSwap, type Subject } from "./subject.ts";

const CALLS: readonly (readonly [string, (store: Store) => Promise<unknown>])[] = [
  ["open", (store) => store.open()],
  ["swap", (store) => store.swap(create(recordOf()))],
  ["read", (store) => store.read("acme", "operation-1")],
  ["readLane", (store) => store.readLane("acme", "payment/p1")],
  ["own", (store) => store.own("acme", "payments", "re_1", "operation-1")],
  ["ownerOf", (store) => store.ownerOf("acme", "payments", "re_1")],
  ["list", (store) => store.list({ tenant: "acme" })],
  ["prune", (store) => store.prune({ tenant: "acme", payloadsOlderThanMs: 0 })],
];

export function testLifetime(subject: () => Subject): void {
  test("opening twice gives the same ledger", async () => {
    const { store } = subject();
    const { id } = await store.open();
    expect((await store.open()).id).toBe(id);
    expect(id).not.toBe("");
  });

  test("the store says what it survives, in a sentence for people", () => {
    const { name, promise } = subject().store;
    expect(name).not.toBe("");
    expect(promise.text).toMatch(/^[A-Z].*\.$/s);
    expect(promise.survives).toBeOneOf(["nothing", "process", "host", "host_loss"]);
    expect(promise.mayForget).toBeTypeOf("boolean");
    expect(promise.forgettingAccepted).toBeTypeOf("boolean");
  });

  test("a watcher is called when its record changes, and no more once it has stopped", async ({
    skip,
  }) => {
    const { store } = subject();
    if (!store.watch) return skip("the store cannot tell; callers poll");
    let calls = 0;
    let called = () => {};
    const heard = new Promise<void>((resolve) => {
      called = resolve;
    });
    const stop = store.watch("acme", "operation-1", () => {
      calls += 1;
      called();
    });
    const { version } = await mustSwap(store, create(recordOf()));
    await heard;
    stop();
    stop();
    const before = calls;
    // A second watcher hears this one, so the first, had it not stopped, would have heard it too.
    const again = new Promise<void>((resolve) => {
      store.watch?.("acme", "operation-1", resolve);
    });
    await mustSwap(store, { ...create(recordOf()), expect: version });
    await again;
    expect(calls).toBe(before);
  });

  test("a watcher that throws does not disturb the write", async ({ skip }) => {
    const { store } = subject();
    if (!store.watch) return skip("the store cannot tell; callers poll");
    store.watch("acme", "operation-1", () => {
      throw new Error("not the store's business");
    });
    await mustSwap(store, create(recordOf()));
    expect((await store.read("acme", "operation-1")).stored?.record).toEqual(recordOf());
  });

  test("closing twice is fine", async () => {
    const { store } = subject();
    await store.close();
    await expect(store.close()).resolves.toBeUndefined();
  });

  test.each(CALLS)("a closed store rejects %s", async (_, call) => {
    const { store } = subject();
    await store.close();
    await expect(call(store)).rejects.toMatchObject({ code: "ERR_HOLDFIRE_CLOSED" });
  });
}
