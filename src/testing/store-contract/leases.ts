/**
 * Leases: set, kept and removed by a write, and measured on the store's clock alone.
 *
 * @module
 */

import assert from "node:assert/strict";
import { claimOf, recordOf } from "../record-of.ts";
import { assertSame, create, mustRead, mustSwap, perform, type StoreTest } from "./subject.ts";

const SHORT_MS = 50;
const LONG_MS = 600_000;

export function testLeases(test: StoreTest): void {
  test("a lease runs from the store's now, and is what a reader sees", async ({ store }) => {
    const { tenant, id } = recordOf();
    const { leaseUntil, now } = await mustSwap(store, { ...create(recordOf()), lease: LONG_MS });
    // A server may round its clock to the millisecond in between.
    assert.ok(Math.abs((leaseUntil ?? 0) - (now + LONG_MS)) <= 1);
    assert.equal((await mustRead(store, tenant, id)).leaseUntil, leaseUntil);
  });

  test("a write can keep the lease, set it anew, or end it", async ({ store }) => {
    const record = recordOf();
    const { tenant, id } = record;
    const set = await mustSwap(store, { ...create(record), lease: LONG_MS });
    const kept = await mustSwap(store, { ...create(record), expect: set.version, lease: "keep" });
    assert.equal(kept.leaseUntil, set.leaseUntil);
    assert.equal((await mustRead(store, tenant, id)).leaseUntil, set.leaseUntil);

    const longer = 2 * LONG_MS;
    const renewed = await mustSwap(store, {
      ...create(record),
      expect: kept.version,
      lease: longer,
    });
    assert.ok(Math.abs((renewed.leaseUntil ?? 0) - (renewed.now + longer)) <= 1);

    const ended = await mustSwap(store, { ...create(record), expect: renewed.version });
    assert.equal(ended.leaseUntil, undefined);
    assert.equal((await mustRead(store, tenant, id)).leaseUntil, undefined);
  });

  test("keeping a lease that never was leaves none", async ({ store }) => {
    const { leaseUntil } = await mustSwap(store, { ...create(recordOf()), lease: "keep" });
    assert.equal(leaseUntil, undefined);
  });

  test("a record made anew does not inherit the lease of a removed one", async ({ store }) => {
    const record = recordOf();
    const { version } = await mustSwap(store, { ...create(record), lease: LONG_MS });
    await mustSwap(store, { ...create(record), expect: version, record: undefined });
    const { leaseUntil } = await mustSwap(store, { ...create(record), lease: "keep" });
    assert.equal(leaseUntil, undefined);
  });

  test("a claim under its lease is not taken over", async ({ store, start: at }) => {
    const { tenant, id } = recordOf();
    await perform(store, tenant, id, claimOf({ at, leaseMs: LONG_MS }));
    const { applied } = await perform(store, tenant, id, claimOf({ at, holder: "holder-2" }));
    assertSame(applied, { tag: "refused", why: "busy" });
  });

  test("a lapsed claim is taken over by one of many, and its old owner can no longer settle", async ({
    store,
    start: at,
    reach,
  }) => {
    const { tenant, id } = recordOf();
    await perform(store, tenant, id, claimOf({ at, leaseMs: SHORT_MS, endsBy: at + LONG_MS }));
    const { leaseUntil = 0 } = await mustRead(store, tenant, id);
    await reach(leaseUntil);
    const holders = Array.from({ length: 20 }, (_, index) => `heir-${index}`);
    const takeovers = await Promise.all(
      holders.map((holder) =>
        perform(store, tenant, id, claimOf({ at, holder, leaseMs: LONG_MS })),
      ),
    );
    assert.equal(takeovers.filter(({ swapped }) => swapped?.ok).length, 1);
    const { record } = await mustRead(store, tenant, id);
    assert.equal(record.epoch, 2);
    assert.equal(record.attempts[0]?.endsBy, at + LONG_MS);
    const late = await perform(store, tenant, id, {
      move: "settle",
      epoch: 1,
      holder: "holder-1",
      state: { tag: "committed", via: "reply", attempt: 1 },
      updates: [],
      at,
    });
    assertSame(late.applied, { tag: "refused", why: "stale" });
  });
}
