/**
 * Opening, watching, closing, and a ledger that outlives its store.
 *
 * @module
 */

import assert from "node:assert/strict";
import { apply } from "../../ledger/moves/apply.ts";
import type { Store } from "../../ledger/store.ts";
import { claimOf, recordOf } from "../record-of.ts";
import { assertSame, create, mustRead, mustSwap, type StoreTest } from "./subject.ts";

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

export function testLifetime(test: StoreTest): void {
  test("opening twice gives the same ledger", async ({ store }) => {
    const { id } = await store.open();
    assert.equal((await store.open()).id, id);
    assert.notEqual(id, "");
  });

  test("the store says what it survives, in a sentence for people", async ({ store }) => {
    const { name, promise } = store;
    assert.notEqual(name, "");
    assert.match(promise.text, /^[A-Z].*\.$/s);
    assert.ok(["nothing", "process", "host", "host_loss"].includes(promise.survives));
    assert.equal(typeof promise.mayForget, "boolean");
    assert.equal(typeof promise.forgettingAccepted, "boolean");
  });

  test("a watcher is called when its record changes, and no more once it has stopped", async ({
    store,
    skip,
  }) => {
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
    assert.equal(calls, before);
  });

  test("a watcher that throws does not disturb the write", async ({ store, skip }) => {
    if (!store.watch) return skip("the store cannot tell; callers poll");
    store.watch("acme", "operation-1", () => {
      throw new Error("A watcher failed.");
    });
    await mustSwap(store, create(recordOf()));
    assertSame((await store.read("acme", "operation-1")).stored?.record, recordOf());
  });

  test("closing twice is fine", async ({ store }) => {
    await store.close();
    await assert.doesNotReject(store.close());
  });

  for (const [method, call] of CALLS) {
    test(`a closed store rejects ${method}`, async ({ store }) => {
      await store.close();
      await assert.rejects(call(store), { code: "ERR_HOLDFIRE_CLOSED" });
    });
  }
}

const LANE = { holder: "operation-1", queue: [{ id: "operation-2", until: 5_000 }] };

/** Two stores on one ledger are as one. */
export function testReopening(test: StoreTest): void {
  test("a ledger opened again has everything, under the same id", async ({ store, another }) => {
    const { sequence } = await mustSwap(store, {
      ...create(recordOf()),
      lease: 600_000,
      lane: { name: "payment/p1", expect: 0, lane: LANE },
    });
    await store.own("acme", "payments", "re_1", "operation-1");
    const before = await mustRead(store, "acme", "operation-1");
    const lane = await store.readLane("acme", "payment/p1");
    const { id } = await store.open();
    await store.close();

    const reopened = await another();
    const incarnation = await reopened.open();
    assert.equal(incarnation.id, id);
    assert.ok(incarnation.sequence >= sequence);
    assertSame(await mustRead(reopened, "acme", "operation-1"), before);
    assertSame((await reopened.readLane("acme", "payment/p1")).stored, lane.stored);
    assert.equal(await reopened.ownerOf("acme", "payments", "re_1"), "operation-1");
    assertSame((await reopened.list({ tenant: "acme" })).items, [before]);
  });

  test("versions and the sequence go on where they were", async ({ store, another }) => {
    const record = recordOf();
    const { version, sequence } = await mustSwap(store, create(record));
    await mustSwap(store, { ...create(record), expect: version, record: undefined });
    await store.close();
    const reopened = await another();
    const anew = await mustSwap(reopened, create(record));
    assert.notEqual(anew.version, version);
    assert.ok(anew.sequence > sequence);
  });

  test("of many claims through two stores on one ledger exactly one wins", async ({
    store,
    another,
    start: at,
  }) => {
    const second = await another();
    const swaps = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const applied = apply(undefined, claimOf({ holder: `holder-${index}`, at }), at);
        if (applied.tag !== "write") throw new Error("A first claim is legal.");
        const { record, lease } = applied;
        const change = { tenant: "acme", id: "operation-1", expect: 0, record, lease };
        return (index % 2 === 0 ? store : second).swap(change);
      }),
    );
    assert.equal(swaps.filter((swapped) => swapped.ok).length, 1);
    assertSame(
      await mustRead(second, "acme", "operation-1"),
      await mustRead(store, "acme", "operation-1"),
    );
  });
}
