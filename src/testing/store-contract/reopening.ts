/**
 * The ledger outlives its store, and two stores on it are as one.
 *
 * @module
 */

import { expect, test } from "vitest";
import { apply } from "../../ledger/apply.ts";
import { claimOf, recordOf } from "../record-of.ts";
import { create, mustRead, mustSwap, type Subject } from "./subject.ts";

const LANE = { holder: "operation-1", queue: [{ id: "operation-2", until: 5_000 }] };

export function testReopening(subject: () => Subject): void {
  test("a ledger opened again has everything, under the same id", async () => {
    const { store, another } = subject();
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
    expect(incarnation.id).toBe(id);
    expect(incarnation.sequence).toBeGreaterThanOrEqual(sequence);
    expect(await mustRead(reopened, "acme", "operation-1")).toEqual(before);
    expect((await reopened.readLane("acme", "payment/p1")).stored).toEqual(lane.stored);
    expect(await reopened.ownerOf("acme", "payments", "re_1")).toBe("operation-1");
    expect((await reopened.list({ tenant: "acme" })).items).toEqual([before]);
  });

  test("versions and the sequence go on where they were", async () => {
    const { store, another } = subject();
    const record = recordOf();
    const { version, sequence } = await mustSwap(store, create(record));
    await mustSwap(store, { ...create(record), expect: version, record: undefined });
    await store.close();
    const reopened = await another();
    const anew = await mustSwap(reopened, create(record));
    expect(anew.version).not.toBe(version);
    expect(anew.sequence).toBeGreaterThan(sequence);
  });

  test("of many claims through two stores on one ledger exactly one wins", async () => {
    const { store, another, start: at } = subject();
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
    expect(swaps.filter((swapped) => swapped.ok)).toHaveLength(1);
    expect(await mustRead(second, "acme", "operation-1")).toEqual(
      await mustRead(store, "acme", "operation-1"),
    );
  });
}
