/**
 * Compare-and-swap: one wins, and who loses learns what stands there.
 *
 * @module
 */

import assert from "node:assert/strict";
import { apply } from "../../ledger/moves/apply.ts";
import { claimOf, recordOf } from "../record-of.ts";
import {
  assertPart,
  assertSame,
  create,
  mustRead,
  mustSwap,
  perform,
  type StoreTest,
} from "./subject.ts";

const HOLDERS = Array.from({ length: 20 }, (_, index) => `holder-${index}`);

export function testSwaps(test: StoreTest): void {
  test("of many first claims at once exactly one wins, and the others see it", async ({
    store,
    start: at,
  }) => {
    const { tenant, id } = recordOf();
    const swaps = await Promise.all(
      HOLDERS.map((holder) => {
        const applied = apply(undefined, claimOf({ holder, at }), at);
        if (applied.tag !== "write") throw new Error("A first claim is legal.");
        const { record, lease } = applied;
        return store.swap({ tenant, id, expect: 0, record, lease });
      }),
    );
    assert.equal(swaps.filter((swapped) => swapped.ok).length, 1);
    const winner = HOLDERS[swaps.findIndex((swapped) => swapped.ok)];
    const { record } = await mustRead(store, tenant, id);
    assertSame(record.state, { tag: "claimed", holder: winner });
    for (const swapped of swaps) {
      if (!swapped.ok) assertSame(swapped.current?.record, record);
    }
  });

  test("of many changes to one version exactly one wins", async ({ store }) => {
    const record = recordOf();
    const { version } = await mustSwap(store, create(record));
    const swaps = await Promise.all(
      HOLDERS.map((argsHash) =>
        store.swap({ ...create({ ...record, argsHash }), expect: version }),
      ),
    );
    assert.equal(swaps.filter((swapped) => swapped.ok).length, 1);
    const winner = HOLDERS[swaps.findIndex((swapped) => swapped.ok)];
    const { record: left } = await mustRead(store, record.tenant, record.id);
    assert.equal(left.argsHash, winner);
  });

  test("a stamp that the store gives is compared beside the version", async ({ store }) => {
    const record = recordOf();
    const { version, stamp } = await mustSwap(store, create(record));
    const found = await mustRead(store, record.tenant, record.id);
    assert.equal(found.stamp, stamp);
    if (stamp === undefined) return;
    const change = { ...create({ ...record, argsHash: "later", stateAt: 7 }), expect: version };
    const other = await store.swap({ ...change, stamp: "1" });
    assert.ok(!other.ok);
    assertSame(other.current, found);
    const changed = await mustSwap(store, { ...change, stamp });
    assert.equal((await mustRead(store, record.tenant, record.id)).stamp, changed.stamp);
    assert.equal((await store.swap({ ...change, expect: changed.version, stamp })).ok, false);
  });

  test("a repeated claim whose reply was lost is recognised as the same", async ({
    store,
    start: at,
  }) => {
    const { tenant, id } = recordOf();
    await perform(store, tenant, id, claimOf({ at }));
    const { applied } = await perform(store, tenant, id, claimOf({ at }));
    assertSame(applied, { tag: "same" });
  });

  test("a swap on a stale version is refused, tells what stands there and changes nothing", async ({
    store,
  }) => {
    const record = recordOf();
    const { version: stale } = await mustSwap(store, create(record));
    const newer = { ...record, argsHash: "newer" };
    const { version } = await mustSwap(store, { ...create(newer), expect: stale });
    const refused = await store.swap({ ...create(record), expect: stale });
    assertPart(refused, { ok: false, current: { record: newer, version } });
    assertPart(await mustRead(store, record.tenant, record.id), {
      record: newer,
      version,
    });
  });

  test("a swap that expects a record where there is none is refused", async ({ store }) => {
    const refused = await store.swap({ ...create(recordOf()), expect: 7 });
    assert.equal(refused.ok, false);
    assert.ok("now" in refused);
    assert.equal("current" in refused ? refused.current : undefined, undefined);
    assert.equal((await store.read("acme", "operation-1")).stored, undefined);
  });

  test("a swap that expects nothing where there is a record is refused", async ({ store }) => {
    const record = recordOf();
    await mustSwap(store, create(record));
    const refused = await store.swap(create({ ...record, argsHash: "other" }));
    assertPart(refused, { ok: false, current: { record } });
  });

  test("the version rises with every write and is the one that is read", async ({ store }) => {
    const record = recordOf();
    let version = 0;
    for (let write = 0; write < 5; write++) {
      const swapped = await mustSwap(store, { ...create(record), expect: version });
      assert.ok(swapped.version > version);
      version = swapped.version;
      assert.equal((await mustRead(store, record.tenant, record.id)).version, version);
    }
  });

  test("a removed record is gone, and can be made anew", async ({ store, start: at }) => {
    const { tenant, id } = recordOf();
    await perform(store, tenant, id, claimOf({ at }));
    const withdrawn = await perform(store, tenant, id, {
      move: "withdraw",
      holder: "holder-1",
      at,
    });
    assertPart(withdrawn.swapped, { ok: true, version: 0 });
    assert.equal((await store.read(tenant, id)).stored, undefined);
    const { swapped } = await perform(store, tenant, id, claimOf({ holder: "holder-2", at }));
    assert.equal(swapped?.ok, true);
  });

  test("a version never comes back, so a swap decided before a removal does not pass after it", async ({
    store,
  }) => {
    const record = recordOf();
    const { version: first } = await mustSwap(store, create(record));
    await mustSwap(store, { ...create(record), expect: first, record: undefined });
    const { version: second } = await mustSwap(store, create(record));
    assert.notEqual(second, first);
    assert.equal((await store.swap({ ...create(record), expect: first })).ok, false);
  });

  test("the sequence rises with every swap, and open tells how far it has come", async ({
    store,
  }) => {
    let { sequence } = await store.open();
    for (const id of ["a", "b", "a"]) {
      const found = await store.read("acme", id);
      const swapped = await mustSwap(store, {
        ...create(recordOf({ id })),
        expect: found.stored?.version ?? 0,
      });
      assert.ok(swapped.sequence > sequence);
      sequence = swapped.sequence;
    }
    const removed = await mustSwap(store, {
      ...create(recordOf({ id: "b" })),
      expect: (await mustRead(store, "acme", "b")).version,
      record: undefined,
    });
    assert.ok(removed.sequence > sequence);
    assert.ok((await store.open()).sequence >= removed.sequence);
  });
}
