/**
 * Leases: set, kept and removed by a write, and measured on the store's clock alone.
 *
 * @module
 */

import { expect, test } from "vitest";
import { claimOf, recordOf } from "../record-of.ts";
import { create, mustRead, mustSwap, perform, type Subject } from "./subject.ts";

const SHORT_MS = 50;
const LONG_MS = 600_000;

export function testLeases(subject: () => Subject): void {
  test("a lease runs from the store's now, and is what a reader sees", async () => {
    const { store } = subject();
    const { tenant, id } = recordOf();
    const { leaseUntil, now } = await mustSwap(store, { ...create(recordOf()), lease: LONG_MS });
    // A server may round its clock to the millisecond in between.
    expect(Math.abs((leaseUntil ?? 0) - (now + LONG_MS))).toBeLessThanOrEqual(1);
    expect((await mustRead(store, tenant, id)).leaseUntil).toBe(leaseUntil);
  });

  test("a write can keep the lease, set it anew, or end it", async () => {
    const { store } = subject();
    const record = recordOf();
    const { tenant, id } = record;
    const set = await mustSwap(store, { ...create(record), lease: LONG_MS });
    const kept = await mustSwap(store, { ...create(record), expect: set.version, lease: "keep" });
    expect(kept.leaseUntil).toBe(set.leaseUntil);
    expect((await mustRead(store, tenant, id)).leaseUntil).toBe(set.leaseUntil);

    const longer = 2 * LONG_MS;
    const renewed = await mustSwap(store, {
      ...create(record),
      expect: kept.version,
      lease: longer,
    });
    expect(Math.abs((renewed.leaseUntil ?? 0) - (renewed.now + longer))).toBeLessThanOrEqual(1);

    const ended = await mustSwap(store, { ...create(record), expect: renewed.version });
    expect(ended.leaseUntil).toBeUndefined();
    expect((await mustRead(store, tenant, id)).leaseUntil).toBeUndefined();
  });

  test("keeping a lease that never was leaves none", async () => {
    const { store } = subject();
    const { leaseUntil } = await mustSwap(store, { ...create(recordOf()), lease: "keep" });
    expect(leaseUntil).toBeUndefined();
  });

  test("a record made anew does not inherit the lease of a removed one", async () => {
    const { store } = subject();
    const record = recordOf();
    const { version } = await mustSwap(store, { ...create(record), lease: LONG_MS });
    await mustSwap(store, { ...create(record), expect: version, record: undefined });
    const { leaseUntil } = await mustSwap(store, { ...create(record), lease: "keep" });
    expect(leaseUntil).toBeUndefined();
  });

  test("a claim under its lease is not taken over", async () => {
    const { store, start: at } = subject();
    const { tenant, id } = recordOf();
    await perform(store, tenant, id, claimOf({ at, leaseMs: LONG_MS }));
    const { applied } = await perform(store, tenant, id, claimOf({ at, holder: "holder-2" }));
    expect(applied).toEqual({ tag: "refused", why: "busy" });
  });

  test("a lapsed claim is taken over by one of many, and its old owner can no longer settle", async () => {
    const { store, start: at, reach } = subject();
    const { tenant, id } = recordOf();
    await perform(store, tenant, id, claimOf({ at, leaseMs: SHORT_MS }));
    const { leaseUntil = 0 } = await mustRead(store, tenant, id);
    await reach(leaseUntil);
    const holders = Array.from({ length: 20 }, (_, index) => `heir-${index}`);
    const takeovers = await Promise.all(
      holders.map((holder) =>
        perform(store, tenant, id, claimOf({ at, holder, leaseMs: LONG_MS })),
      ),
    );
    expect(takeovers.filter(({ swapped }) => swapped?.ok)).toHaveLength(1);
    const { record } = await mustRead(store, tenant, id);
    expect(record.epoch).toBe(2);
    expect(record.attempts[0]?.endsBy).toBe(leaseUntil);
    const late = await perform(store, tenant, id, {
      move: "settle",
      epoch: 1,
      state: { tag: "committed", via: "reply", attempt: 1 },
      endings: [],
      at,
    });
    expect(late.applied).toEqual({ tag: "refused", why: "stale" });
  });
}
