/**
 * Lanes: taken and left in one move with the record.
 *
 * @module
 */

import { expect, test } from "vitest";
import type { LaneRecord } from "../../ledger/store.ts";
import { recordOf } from "../record-of.ts";
import { create, mustSwap, type Subject } from "./subject.ts";

const NAME = "payment/p1";
const TAKEN: LaneRecord = {
  holder: "operation-1",
  queue: [
    { id: "operation-2", until: 5_000 },
    { id: "operation-3", until: 6_000 },
  ],
};

export function testLanes(subject: () => Subject, joinsLanes: boolean): void {
  test("a lane that nobody took is not there", async () => {
    const { store } = subject();
    expect((await store.readLane("acme", NAME)).stored).toBeUndefined();
  });

  test("a record and its lane are written in one move, and the lane is read as it was written", async () => {
    const { store } = subject();
    await mustSwap(store, { ...create(recordOf()), lane: { name: NAME, expect: 0, lane: TAKEN } });
    const { stored } = await store.readLane("acme", NAME);
    expect(stored?.lane).toEqual(TAKEN);
    expect((await store.read("acme", "operation-1")).stored?.record).toEqual(recordOf());
  });

  test("a lane is left in the move that settles the record", async () => {
    const { store } = subject();
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
    expect((await store.readLane("acme", NAME)).stored).toBeUndefined();
    expect((await store.read("acme", "operation-1")).stored?.record).toEqual(settled);
  });

  test("when the lane has changed neither is written, and the refusal tells the lane", async () => {
    const { store } = subject();
    const lane = { name: NAME, expect: 0, lane: TAKEN };
    await mustSwap(store, { ...create(recordOf()), lane });
    const { stored } = await store.readLane("acme", NAME);
    const refused = await store.swap({ ...create(recordOf({ id: "operation-2" })), lane });
    expect(refused).toMatchObject({ ok: false, lane: stored });
    expect((await store.read("acme", "operation-2")).stored).toBeUndefined();
    expect((await store.readLane("acme", NAME)).stored).toEqual(stored);
  });

  test("a lane that is gone is told as version 0", async () => {
    const { store } = subject();
    const lane = { name: NAME, expect: 9, lane: TAKEN };
    const refused = await store.swap({ ...create(recordOf()), lane });
    expect(refused).toMatchObject({ ok: false, lane: { version: 0 } });
    expect((await store.read("acme", "operation-1")).stored).toBeUndefined();
  });

  test("when the record has changed it is not written, and the refusal tells the record", async () => {
    const { store } = subject();
    await mustSwap(store, create(recordOf()));
    const stale = create(recordOf({ argsHash: "other" }));
    const refused = await store.swap({ ...stale, lane: { name: NAME, expect: 0, lane: TAKEN } });
    expect(refused).toMatchObject({ ok: false, current: { record: recordOf() } });
    expect((await store.read("acme", "operation-1")).stored?.record).toEqual(recordOf());
    if (joinsLanes) expect((await store.readLane("acme", NAME)).stored).toBeUndefined();
  });

  test("of many that take a free lane at once exactly one gets it", async () => {
    const { store } = subject();
    const ids = Array.from({ length: 20 }, (_, index) => `operation-${index}`);
    const swaps = await Promise.all(
      ids.map((id) =>
        store.swap({
          ...create(recordOf({ id })),
          lane: { name: NAME, expect: 0, lane: { holder: id, queue: [] } },
        }),
      ),
    );
    expect(swaps.filter((swapped) => swapped.ok)).toHaveLength(1);
    const winner = ids[swaps.findIndex((swapped) => swapped.ok)];
    expect((await store.readLane("acme", NAME)).stored?.lane.holder).toBe(winner);
    const { items } = await store.list({ tenant: "acme" });
    expect(items.map(({ record }) => record.id)).toEqual([winner]);
  });

  test("a lane is written alone, where a record that is not there is removed", async () => {
    const { store } = subject();
    const alone = {
      tenant: "acme",
      id: "nobody",
      expect: 0,
      record: undefined,
      lease: "none",
    } as const;
    await mustSwap(store, { ...alone, lane: { name: NAME, expect: 0, lane: TAKEN } });
    const { stored } = await store.readLane("acme", NAME);
    expect(stored?.lane).toEqual(TAKEN);
    expect((await store.read("acme", "nobody")).stored).toBeUndefined();
    const stale = { ...alone, lane: { name: NAME, expect: 0, lane: { queue: [] } } };
    expect(await store.swap(stale)).toMatchObject({ ok: false, lane: stored });
    const inner = { holder: "operation-1", inner: ["operation-4"], queue: [] };
    const shared = { name: NAME, expect: stored?.version ?? 0, lane: inner };
    await mustSwap(store, { ...alone, lane: shared });
    expect((await store.readLane("acme", NAME)).stored?.lane).toEqual(inner);
  });

  test("the version of a lane rises, and does not come back after a removal", async () => {
    const { store } = subject();
    const seen: number[] = [0];
    let expected = 0;
    for (const [index, lane] of [TAKEN, TAKEN, undefined, TAKEN].entries()) {
      const id = `operation-${index}`;
      const change = { name: NAME, expect: expected, lane };
      await mustSwap(store, { ...create(recordOf({ id })), lane: change });
      expected = (await store.readLane("acme", NAME)).stored?.version ?? 0;
      if (lane) {
        expect(seen).not.toContain(expected);
        seen.push(expected);
      }
    }
  });
}
