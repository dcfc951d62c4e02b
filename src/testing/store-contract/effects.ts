/**
 * Effects: each belongs to one operation.
 *
 * @module
 */

import { expect, test } from "vitest";
import { recordOf } from "../record-of.ts";
import { create, mustSwap, type Subject } from "./subject.ts";

export function testEffects(subject: () => Subject): void {
  test("an effect goes to the first that asks, and the others are told who has it", async () => {
    const { store } = subject();
    expect(await store.ownerOf("acme", "payments", "re_1")).toBeUndefined();
    expect(await store.own("acme", "payments", "re_1", "first")).toBe("first");
    expect(await store.own("acme", "payments", "re_1", "second")).toBe("first");
    expect(await store.own("acme", "payments", "re_1", "first")).toBe("first");
    expect(await store.ownerOf("acme", "payments", "re_1")).toBe("first");
  });

  test("of many that ask at once one gets it, and all are told the same", async () => {
    const { store } = subject();
    const owners = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.own("acme", "payments", "re_1", `${index}`)),
    );
    expect(new Set(owners).size).toBe(1);
    expect(await store.ownerOf("acme", "payments", "re_1")).toBe(owners[0]);
  });

  test("the same effect id at another service is another effect", async () => {
    const { store } = subject();
    await store.own("acme", "a:b", "c", "first");
    expect(await store.own("acme", "a", "b:c", "second")).toBe("second");
    expect(await store.own("acme", "mail", "c", "third")).toBe("third");
  });

  test("the effects of a removed operation are free again, those of others are not", async () => {
    const { store } = subject();
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
    expect(await store.ownerOf("acme", "payments", "re_1")).toBeUndefined();
    expect(await store.own("acme", "payments", "re_2", "third")).toBe("third");
    expect(await store.ownerOf("acme", "payments", "re_3")).toBe("second");
  });
}
