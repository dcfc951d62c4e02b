/**
 * Compare-and-swap: one wins, and who loses learns what stands there.
 *
 * @module
 */

import { expect, test } from "vitest";
import { apply } from "../../ledger/apply.ts";
import { claimOf, recordOf } from "../record-of.ts";
import { create, mustRead, mustSwap, perform, type Subject } from "./subject.ts";

const HOLDERS = Array.from({ length: 20 }, (_, index) => `holder-${index}`);

export function testSwaps(subject: () => Subject): void {
  test("of many first claims at once exactly one wins, and the others see it", async () => {
    const { store, start: at } = subject();
    const { tenant, id } = recordOf();
    const swaps = await Promise.all(
      HOLDERS.map((holder) => {
        const applied = apply(undefined, claimOf({ holder, at }), at);
        if (applied.tag !== "write") throw new Error("A first claim is legal.");
        const { record, lease } = applied;
        return store.swap({ tenant, id, expect: 0, record, lease });
      }),
    );
    expect(swaps.filter((swapped) => swapped.ok)).toHaveLength(1);
    const winner = HOLDERS[swaps.findIndex((swapped) => swapped.ok)];
    const { record } = await mustRead(store, tenant, id);
    expect(record.state).toEqual({ tag: "claimed", holder: winner });
    for (const swapped of swaps) {
      if (!swapped.ok) expect(swapped.current?.record).toEqual(record);
    }
  });

  test("of many changes to one version exactly one wins", async () => {
    const { store } = subject();
    const record = recordOf();
    const { version } = await mustSwap(store, create(record));
    const swaps = await Promise.all(
      HOLDERS.map((argsHash) =>
        store.swap({ ...create({ ...record, argsHash }), expect: version }),
      ),
    );
    expect(swaps.filter((swapped) => swapped.ok)).toHaveLength(1);
    const winner = HOLDERS[swaps.findIndex((swapped) => swapped.ok)];
    const { record: left } = await mustRead(store, record.tenant, record.id);
    expect(left.argsHash).toBe(winner);
  });

  test("a repeated claim whose reply was lost is recognised as the same", async () => {
    const { store, start: at } = subject();
    const { tenant, id } = recordOf();
    await perform(store, tenant, id, claimOf({ at }));
    const { applied } = await perform(store, tenant, id, claimOf({ at }));
    expect(applied).toEqual({ tag: "same" });
  });

  test("a swap on a stale version is refused, tells what stands there and changes nothing", async () => {
    const { store } = subject();
    const record = recordOf();
    const { version: stale } = await mustSwap(store, create(record));
    const newer = { ...record, argsHash: "newer" };
    const { version } = await mustSwap(store, { ...create(newer), expect: stale });
    const refused = await store.swap({ ...create(record), expect: stale });
    expect(refused).toMatchObject({ ok: false, current: { record: newer, version } });
    expect(await mustRead(store, record.tenant, record.id)).toMatchObject({
      record: newer,
      version,
    });
  });

  test("a swap that expects a record where there is none is refused", async () => {
    const { store } = subject();
    const refused = await store.swap({ ...create(recordOf()), expect: 7 });
    expect(refused.ok).toBe(false);
    expect(refused).toHaveProperty("now");
    expect("current" in refused ? refused.current : undefined).toBeUndefined();
    expect((await store.read("acme", "operation-1")).stored).toBeUndefined();
  });

  test("a swap that expects nothing where there is a record is refused", async () => {
    const { store } = subject();
    const record = recordOf();
    await mustSwap(store, create(record));
    const refused = await store.swap(create({ ...record, argsHash: "other" }));
    expect(refused).toMatchObject({ ok: false, current: { record } });
  });

  test("the version rises with every write and is the one that is read", async () => {
    const { store } = subject();
    const record = recordOf();
    let version = 0;
    for (let write = 0; write < 5; write++) {
      const swapped = await mustSwap(store, { ...create(record), expect: version });
      expect(swapped.version).toBeGreaterThan(version);
      version = swapped.version;
      expect((await mustRead(store, record.tenant, record.id)).version).toBe(version);
    }
  });

  test("a removed record is gone, and can be made anew", async () => {
    const { store, start: at } = subject();
    const { tenant, id } = recordOf();
    await perform(store, tenant, id, claimOf({ at }));
    const withdrawn = await perform(store, tenant, id, {
      move: "withdraw",
      holder: "holder-1",
      at,
    });
    expect(withdrawn.swapped).toMatchObject({ ok: true, version: 0 });
    expect((await store.read(tenant, id)).stored).toBeUndefined();
    const { swapped } = await perform(store, tenant, id, claimOf({ holder: "holder-2", at }));
    expect(swapped?.ok).toBe(true);
  });

  test("a version never comes back, so a swap decided before a removal does not pass after it", async () => {
    const { store } = subject();
    const record = recordOf();
    const { version: first } = await mustSwap(store, create(record));
    await mustSwap(store, { ...create(record), expect: first, record: undefined });
    const { version: second } = await mustSwap(store, create(record));
    expect(second).not.toBe(first);
    expect((await store.swap({ ...create(record), expect: first })).ok).toBe(false);
  });

  test("the sequence rises with every swap, and open tells how far it has come", async () => {
    const { store } = subject();
    let { sequence } = await store.open();
    for (const id of ["a", "b", "a"]) {
      const found = await store.read("acme", id);
      const swapped = await mustSwap(store, {
        ...create(recordOf({ id })),
        expect: found.stored?.version ?? 0,
      });
      expect(swapped.sequence).toBeGreaterThan(sequence);
      sequence = swapped.sequence;
    }
    const removed = await mustSwap(store, {
      ...create(recordOf({ id: "b" })),
      expect: (await mustRead(store, "acme", "b")).version,
      record: undefined,
    });
    expect(removed.sequence).toBeGreaterThan(sequence);
    expect((await store.open()).sequence).toBeGreaterThanOrEqual(removed.sequence);
  });
}
