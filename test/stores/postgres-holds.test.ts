import { afterAll, expect, test } from "vitest";
import type { Swapped } from "../../src/ledger/store.ts";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { findScratch } from "../servers/postgres.ts";

const scratch = await findScratch();
afterAll(() => scratch?.drop());

const sequenceOf = (swapped: Swapped): number => {
  if (!swapped.ok || swapped.sequence === undefined) throw new Error("It has no sequence.");
  return swapped.sequence;
};

test.skipIf(!scratch)(
  "a change is there by its sequence, of a record as of a lane; one that was never written, or was undone, is not",
  async () => {
    if (!scratch) return;
    const { pool, schema } = scratch;
    const store = postgresStore({ pool, schema, migrate: true });
    const holds = (sequence: number) => store.holds?.(sequence);
    const first = await mustSwap(store, create(recordOf()));
    const sequence = sequenceOf(first);
    expect(await holds(sequence)).toBe(true);
    expect(await holds(sequence + 1_000)).toBe(false);

    const lane = { name: "payment/p1", expect: 0, lane: { holder: "a", queue: [] } };
    const alone = { id: "lane", record: undefined, lease: "none", expect: 0 } as const;
    const taken = await store.swap({ ...alone, tenant: "acme", lane });
    expect(taken.ok).toBe(true);
    const { stored } = await store.readLane("acme", "payment/p1");
    expect(stored?.version).toBeGreaterThan(sequence);
    expect(await holds(stored?.version ?? 0)).toBe(true);

    // What a promoted server has not got looks like this: the row of that version is gone.
    await mustSwap(store, { ...create(recordOf()), expect: first.version, record: undefined });
    expect(await holds(sequence)).toBe(false);
    await store.close();
  },
);

test.skipIf(!scratch)(
  "each answer says which server gave it, as opening does: another one may lack what was acknowledged",
  async () => {
    if (!scratch) return;
    const { pool, schema } = scratch;
    const store = postgresStore({ pool, schema, migrate: true });
    const { server, timeline } = await store.open();
    expect(server).toMatch(/./);
    // The cluster, and the timeline that a promoted standby begins anew.
    expect(timeline).toMatch(/^\d+\.[0-9A-F]{8}$/);
    expect((await store.open()).timeline).toBe(timeline);
    const written = await mustSwap(store, create(recordOf({ id: "told" })));
    expect(written).toMatchObject({ ok: true, server });
    await store.close();
  },
);
