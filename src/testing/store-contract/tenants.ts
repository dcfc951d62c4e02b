/**
 * Tenants never meet, whatever their names look like glued together.
 *
 * @module
 */

import { describe, expect, test } from "vitest";
import { recordOf } from "../record-of.ts";
import { create, mustRead, mustSwap, type Subject } from "./subject.ts";

/** Pairs of tenant and name that are one string to a store that joins them with a separator. */
const NEIGHBOURS = [
  [
    ["a:b", "c"],
    ["a", "b:c"],
  ],
  [
    ["a", ":b"],
    ["a:", "b"],
  ],
  [
    ["a/b", "c"],
    ["a", "b/c"],
  ],
  [
    ["a|b", "c"],
    ["a", "b|c"],
  ],
  [
    ["{a}:b", "c"],
    ["{a}", "b:c"],
  ],
  [
    ["A", "c"],
    ["a", "c"],
  ],
] as const;

export function testTenants(subject: () => Subject): void {
  test("a record of another tenant is not found", async () => {
    const { store } = subject();
    await mustSwap(store, create(recordOf({ tenant: "acme" })));
    expect((await store.read("umbrella", "operation-1")).stored).toBeUndefined();
    expect((await store.list({ tenant: "umbrella" })).items).toEqual([]);
  });

  describe.each(NEIGHBOURS)("tenants with look-alike names: %j and %j", (mine, theirs) => {
    test("keep their records apart", async () => {
      const { store } = subject();
      const [one, other] = [mine, theirs].map(([tenant, id]) => recordOf({ tenant, id }));
      if (!one || !other) throw new Error("There are two.");
      await mustSwap(store, create(one));
      expect((await store.read(other.tenant, other.id)).stored).toBeUndefined();
      await mustSwap(store, create(other));
      expect((await mustRead(store, one.tenant, one.id)).record).toEqual(one);
      for (const record of [one, other]) {
        const { items } = await store.list({ tenant: record.tenant });
        expect(items.map((item) => item.record)).toEqual([record]);
      }
    });

    test("keep their lanes apart", async () => {
      const { store } = subject();
      for (const [tenant, name] of [mine, theirs]) {
        const lane = { name, expect: 0, lane: { holder: tenant, queue: [] } };
        await mustSwap(store, { ...create(recordOf({ tenant })), lane });
      }
      for (const [tenant, name] of [mine, theirs]) {
        expect((await store.readLane(tenant, name)).stored?.lane.holder).toBe(tenant);
      }
    });

    test("keep their effects apart", async () => {
      const { store } = subject();
      for (const [tenant, service] of [mine, theirs]) {
        expect(await store.own(tenant, service, "e", `of ${tenant}`)).toBe(`of ${tenant}`);
      }
      for (const [tenant, service] of [mine, theirs]) {
        expect(await store.ownerOf(tenant, service, "e")).toBe(`of ${tenant}`);
      }
    });

    test("are pruned apart", async () => {
      const { store, start } = subject();
      const settled = { state: { tag: "denied", by: "ana" }, stateAt: start - 10_000 } as const;
      for (const [tenant, id] of [mine, theirs]) {
        await mustSwap(store, create(recordOf({ tenant, id, ...settled })));
      }
      const [tenant, id] = mine;
      expect(await store.prune({ tenant, tombstonesOlderThanMs: 5_000 })).toEqual({
        payloads: 0,
        tombstones: 1,
      });
      expect((await store.read(tenant, id)).stored).toBeUndefined();
      expect((await store.read(theirs[0], theirs[1])).stored).toBeDefined();
    });
  });
}
