/**
 * Tenants never meet, whatever their names look like glued together.
 *
 * @module
 */

import assert from "node:assert/strict";
import { recordOf } from "../record-of.ts";
import { assertSame, create, mustRead, mustSwap, type StoreTest } from "./subject.ts";

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

export function testTenants(test: StoreTest): void {
  test("a record of another tenant is not found", async ({ store }) => {
    await mustSwap(store, create(recordOf({ tenant: "acme" })));
    assert.equal((await store.read("umbrella", "operation-1")).stored, undefined);
    assertSame((await store.list({ tenant: "umbrella" })).items, []);
  });

  for (const [mine, theirs] of NEIGHBOURS) {
    const tenants = `tenants with look-alike names: ${JSON.stringify([mine, theirs])}`;
    test(`${tenants} keep their records apart`, async ({ store }) => {
      const [one, other] = [mine, theirs].map(([tenant, id]) => recordOf({ tenant, id }));
      if (!one || !other) throw new Error("There are two.");
      await mustSwap(store, create(one));
      assert.equal((await store.read(other.tenant, other.id)).stored, undefined);
      await mustSwap(store, create(other));
      assertSame((await mustRead(store, one.tenant, one.id)).record, one);
      for (const record of [one, other]) {
        const { items } = await store.list({ tenant: record.tenant });
        assertSame(
          items.map((item) => item.record),
          [record],
        );
      }
    });

    test(`${tenants} keep their lanes apart`, async ({ store }) => {
      for (const [tenant, name] of [mine, theirs]) {
        const lane = { name, expect: 0, lane: { holder: tenant, queue: [] } };
        await mustSwap(store, { ...create(recordOf({ tenant })), lane });
      }
      for (const [tenant, name] of [mine, theirs]) {
        assert.equal((await store.readLane(tenant, name)).stored?.lane.holder, tenant);
      }
    });

    test(`${tenants} keep their effects apart`, async ({ store }) => {
      for (const [tenant, service] of [mine, theirs]) {
        assert.equal(await store.own(tenant, service, "e", `of ${tenant}`), `of ${tenant}`);
      }
      for (const [tenant, service] of [mine, theirs]) {
        assert.equal(await store.ownerOf(tenant, service, "e"), `of ${tenant}`);
      }
    });

    test(`${tenants} are pruned apart`, async ({ store, start }) => {
      const settled = { state: { tag: "denied", by: "ana" }, stateAt: start - 10_000 } as const;
      for (const [tenant, id] of [mine, theirs]) {
        await mustSwap(store, create(recordOf({ tenant, id, ...settled })));
      }
      const [tenant, id] = mine;
      assertSame(await store.prune({ tenant, tombstonesOlderThanMs: 5_000 }), {
        payloads: 0,
        tombstones: 1,
      });
      assert.equal((await store.read(tenant, id)).stored, undefined);
      assert.notEqual((await store.read(theirs[0], theirs[1])).stored, undefined);
    });
  }
}
