/**
 * Lanes: taken and left in one move with the record.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { LaneRecord } from "../../ledger/store.ts";
import { recordOf } from "../record-of.ts";
import { assertPart, assertSame, create, mustSwap, type StoreTest } from "./subject.ts";

const NAME = "payment/p1";
const TAKEN: LaneRecord = {
  holder: "operation-1",
  queue: [
    { id: "operation-2", until: 5_000 },
    { id: "operation-3", until: 6_000 },
  ],
};

export function testLanes(test: StoreTest, joinsLanes: boolean): void {
  test("a lane that no operation has taken is not there", async ({ store }) => {
    assert.equal((await store.readLane("acme", NAME)).stored, undefined);
  });

  test("a record and its lane are written in one move, and the lane is read as it was written", async ({
    store,
  }) => {
    await mustSwap(store, { ...create(recordOf()), lane: { name: NAME, expect: 0, lane: TAKEN } });
    const { stored } = await store.readLane("acme", NAME);
    assertSame(stored?.lane, TAKEN);
    assertSame((await store.read("acme", "operation-1")).stored?.record, recordOf());
  });

  test("a lane is left in the move that settles the record", async ({ store }) => {
    const { version } = await mustSwap(store, {
      ...create(recordOf()),
      lane: { name: NAME, expect: 0, lane: TAKEN },
    });
    const { stored } = await store.readLane("acme", NAME);
    const settled = recordOf({ state: { tag: "committed", via: "reply" } });
    await mustSwap(store, {
      ...create(settled),
      expect: version,
      lane: { name: NAME, expect: stored?.version ?? 0, lane: undefined },
    });
    assert.equal((await store.readLane("acme", NAME)).stored, undefined);
    assertSame((await store.read("acme", "operation-1")).stored?.record, settled);
  });

  test("when the lane has changed neither is written, and the refusal tells the lane", async ({
    store,
  }) => {
    const lane = { name: NAME, expect: 0, lane: TAKEN };
    await mustSwap(store, { ...create(recordOf()), lane });
    const { stored } = await store.readLane("acme", NAME);
    const refused = await store.swap({ ...create(recordOf({ id: "operation-2" })), lane });
    assertPart(refused, { ok: false, lane: stored });
    assert.equal((await store.read("acme", "operation-2")).stored, undefined);
    assertSame((await store.readLane("acme", NAME)).stored, stored);
  });

  test("a lane that is gone is told as version 0", async ({ store }) => {
    const lane = { name: NAME, expect: 9, lane: TAKEN };
    const refused = await store.swap({ ...create(recordOf()), lane });
    assertPart(refused, { ok: false, lane: { version: 0 } });
    assert.equal((await store.read("acme", "operation-1")).stored, undefined);
  });

  test("when the record has changed it is not written, and the refusal tells the record", async ({
    store,
  }) => {
    await mustSwap(store, create(recordOf()));
    const stale = create(recordOf({ argsHash: "other" }));
    const refused = await store.swap({ ...stale, lane: { name: NAME, expect: 0, lane: TAKEN } });
    assertPart(refused, { ok: false, current: { record: recordOf() } });
    assertSame((await store.read("acme", "operation-1")).stored?.record, recordOf());
    if (joinsLanes) assert.equal((await store.readLane("acme", NAME)).stored, undefined);
  });

  test("of many that take a free lane at once exactly one gets it", async ({ store }) => {
    const ids = Array.from({ length: 20 }, (_, index) => `operation-${index}`);
    const swaps = await Promise.all(
      ids.map((id) =>
        store.swap({
          ...create(recordOf({ id })),
          lane: { name: NAME, expect: 0, lane: { holder: id, queue: [] } },
        }),
      ),
    );
    assert.equal(swaps.filter((swapped) => swapped.ok).length, 1);
    const winner = ids[swaps.findIndex((swapped) => swapped.ok)];
    assert.equal((await store.readLane("acme", NAME)).stored?.lane.holder, winner);
    const { items } = await store.list({ tenant: "acme" });
    assertSame(
      items.map(({ record }) => record.id),
      [winner],
    );
  });

  test("a lane is written alone, where a record that is not there is removed", async ({
    store,
  }) => {
    const alone = {
      tenant: "acme",
      id: "no-such-operation",
      expect: 0,
      record: undefined,
      lease: "none",
    } as const;
    await mustSwap(store, { ...alone, lane: { name: NAME, expect: 0, lane: TAKEN } });
    const { stored } = await store.readLane("acme", NAME);
    assertSame(stored?.lane, TAKEN);
    assert.equal((await store.read("acme", "no-such-operation")).stored, undefined);
    const stale = { ...alone, lane: { name: NAME, expect: 0, lane: { queue: [] } } };
    assertPart(await store.swap(stale), { ok: false, lane: stored });
    const inner = { holder: "operation-1", inner: ["operation-4"], queue: [] };
    const shared = { name: NAME, expect: stored?.version ?? 0, lane: inner };
    await mustSwap(store, { ...alone, lane: shared });
    assertSame((await store.readLane("acme", NAME)).stored?.lane, inner);
  });

  test("the version of a lane rises, and does not come back after a removal", async ({ store }) => {
    const seen: number[] = [0];
    let expected = 0;
    for (const [index, lane] of [TAKEN, TAKEN, undefined, TAKEN].entries()) {
      const id = `operation-${index}`;
      const change = { name: NAME, expect: expected, lane };
      await mustSwap(store, { ...create(recordOf({ id })), lane: change });
      expected = (await store.readLane("acme", NAME)).stored?.version ?? 0;
      if (lane) {
        assert.ok(!seen.includes(expected));
        seen.push(expected);
      }
    }
  });
}
