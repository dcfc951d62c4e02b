import { expect, test } from "vitest";
import { type Places, placesOf } from "../../src/ledger/places.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { recordOf } from "../../src/testing/record-of.ts";

const TENANT = "acme";

const placesIn = (store: Store, name = "turn-3", tenant = TENANT): Places =>
  placesOf({ store, tenant, name }, (question) => question);

/** Those that have a place, each with whether it was told as the last. */
async function row(places: Places): Promise<readonly (readonly [string, boolean])[]> {
  const seen: [string, boolean][] = [];
  await places.find(async (id, isLast) => {
    seen.push([id, isLast]);
    return undefined;
  });
  return seen;
}

const join = (places: Places, id: string) => places.join(id, async () => undefined);

/** An operation that is pruned lets its place go. */
async function letGo(store: Store, id: string): Promise<void> {
  const record = recordOf({ id, state: { tag: "committed", via: "reply" } });
  await store.swap({ tenant: TENANT, id, expect: 0, record, lease: "none" });
  await store.prune({ tenant: TENANT, tombstonesOlderThanMs: 0 });
}

test("each takes the place after the last, and is visited there itself", async () => {
  const places = placesIn(memoryStore());
  expect(await row(places)).toEqual([]);
  for (const id of ["a", "b", "c"]) {
    const visited: string[] = [];
    await places.join(id, async (each) => {
      visited.push(each);
      return undefined;
    });
    expect(visited.at(-1)).toBe(id);
  }
  expect(await row(places)).toEqual([
    ["a", false],
    ["b", false],
    ["c", true],
  ]);
});

test("who has a place already takes no second one", async () => {
  const places = placesIn(memoryStore());
  await join(places, "a");
  await join(places, "a");
  expect(await row(places)).toEqual([["a", true]]);
});

test("the first answer ends the walk, and who got it takes no place", async () => {
  const places = placesIn(memoryStore());
  await join(places, "a");
  await join(places, "b");
  expect(await places.find(async (id) => `met ${id}`)).toBe("met a");
  expect(await places.join("c", async (id) => (id === "b" ? "met b" : undefined))).toBe("met b");
  expect((await row(places)).map(([id]) => id)).toEqual(["a", "b"]);
});

test("looking takes no place, and writes nothing", async () => {
  const store = memoryStore();
  await join(placesIn(store), "a");
  const reading: Store = { ...store, own: () => Promise.reject(new Error("written")) };
  expect(await row(placesIn(reading))).toEqual([["a", true]]);
  expect(await placesIn(reading, "turn-4").find(async () => "met")).toBeUndefined();
});

test("a place that was let go hides none of those after it", async () => {
  const store = memoryStore();
  const places = placesIn(store);
  for (const id of ["a", "b", "c"]) await join(places, id);
  await letGo(store, "b");
  expect((await row(places)).map(([id]) => id)).toEqual(["a", "c"]);
  await join(places, "d");
  expect((await row(places)).map(([id]) => id)).toEqual(["a", "c", "d"]);
});

test("those who come at the same time all get a place of their own", async () => {
  const places = placesIn(memoryStore());
  const ids = ["a", "b", "c", "d"];
  await Promise.all(ids.map((id) => join(places, id)));
  const seen = (await row(places)).map(([id]) => id);
  expect(seen.toSorted()).toEqual(ids);
});

test("places of another name or tenant are others", async () => {
  const store = memoryStore();
  await join(placesIn(store), "a");
  expect(await row(placesIn(store, "turn-4"))).toEqual([]);
  expect(await row(placesIn(store, "turn-3", "other"))).toEqual([]);
});

test("every question is put within its time", async () => {
  const late = placesOf({ store: memoryStore(), tenant: TENANT, name: "turn-3" }, () =>
    Promise.reject(new Error("too late")),
  );
  await expect(join(late, "a")).rejects.toThrow("too late");
});
