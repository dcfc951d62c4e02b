/**
 * Effects: each belongs to one operation.
 *
 * @module
 */

import assert from "node:assert/strict";
import { recordOf } from "../record-of.ts";
import { create, mustSwap, type StoreTest } from "./subject.ts";

export function testEffects(test: StoreTest): void {
  test("an effect goes to the first that asks, and the others are told who has it", async ({
    store,
  }) => {
    assert.equal(await store.ownerOf("acme", "payments", "re_1"), undefined);
    assert.equal(await store.own("acme", "payments", "re_1", "first"), "first");
    assert.equal(await store.own("acme", "payments", "re_1", "second"), "first");
    assert.equal(await store.own("acme", "payments", "re_1", "first"), "first");
    assert.equal(await store.ownerOf("acme", "payments", "re_1"), "first");
  });

  test("of many that ask at once one gets it, and all are told the same", async ({ store }) => {
    const owners = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.own("acme", "payments", "re_1", `${index}`)),
    );
    assert.equal(new Set(owners).size, 1);
    assert.equal(await store.ownerOf("acme", "payments", "re_1"), owners[0]);
  });

  test("the same effect id at another service is another effect", async ({ store }) => {
    await store.own("acme", "a:b", "c", "first");
    assert.equal(await store.own("acme", "a", "b:c", "second"), "second");
    assert.equal(await store.own("acme", "mail", "c", "third"), "third");
  });

  test("the effects of a removed operation are free again, those of others are not", async ({
    store,
  }) => {
    const { version } = await mustSwap(store, create(recordOf({ id: "first" })));
    await mustSwap(store, create(recordOf({ id: "second" })));
    await store.own("acme", "payments", "re_1", "first");
    await store.own("acme", "payments", "re_2", "first");
    await store.own("acme", "payments", "re_3", "second");
    await mustSwap(store, {
      ...create(recordOf({ id: "first" })),
      expect: version,
      record: undefined,
    });
    assert.equal(await store.ownerOf("acme", "payments", "re_1"), undefined);
    assert.equal(await store.own("acme", "payments", "re_2", "third"), "third");
    assert.equal(await store.ownerOf("acme", "payments", "re_3"), "second");
  });
}
