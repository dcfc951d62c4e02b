import { expect, test } from "vitest";
import { lazyDefaultStore, lazyWitness } from "../../src/ledger/lazy-store.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryWitness, type Witness } from "../../src/ledger/witness/witness.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { recordOf } from "../../src/testing/record-of.ts";

const record = recordOf({ state: { tag: "committed", via: "reply" } });
const { tenant, id } = record;
const first = { tenant, id, expect: 0, record, lease: "none" } as const;

function counted(store: Store) {
  let loads = 0;
  const lazy = lazyDefaultStore("sqlite", async () => {
    loads += 1;
    return store;
  });
  return { lazy, loads: () => loads };
}

test("a store is loaded at its first use, once for all who use it at the same time", async () => {
  const { lazy, loads } = counted({ ...memoryStore(), address: "/a/ledger.db" });
  expect([lazy.name, lazy.address, loads()]).toEqual(["sqlite", undefined, 0]);
  await Promise.all([lazy.open(), lazy.read(tenant, id), lazy.readLane(tenant, "lane")]);
  expect([lazy.address, loads()]).toEqual(["/a/ledger.db", 1]);
});

test("before it is loaded it promises nothing, and after that what the store promises", async () => {
  const store = memoryStore({ forgets: "accepted" });
  const { lazy } = counted(store);
  expect(lazy.promise).toMatchObject({
    survives: "nothing",
    mayForget: false,
    forgettingAccepted: false,
  });
  await lazy.open();
  expect(lazy.promise).toBe(store.promise);
});

test("a store that cannot be loaded is tried again by the next use", async () => {
  const outcomes = [Promise.reject(new Error("no driver")), Promise.resolve(memoryStore())];
  const lazy = lazyDefaultStore(
    "sqlite",
    () => outcomes.shift() ?? Promise.reject(new Error("again")),
  );
  await expect(lazy.open()).rejects.toThrow("no driver");
  expect(await lazy.open()).toMatchObject({ sequence: 0 });
  expect(await lazy.read(tenant, id)).toMatchObject({ stored: undefined });
});

test("what is asked of it is answered by the store", async () => {
  const store = memoryStore();
  const { lazy } = counted(store);
  expect(await lazy.swap(first)).toMatchObject({ ok: true, version: 1 });
  expect((await lazy.read(tenant, id)).stored).toMatchObject({ record, version: 1 });
  expect((await lazy.list({ tenant })).items).toHaveLength(1);
  expect(await lazy.own(tenant, "payments", "re_1", id)).toBe(id);
  expect(await lazy.own(tenant, "payments", "re_1", "another")).toBe(id);
  expect(await lazy.ownerOf(tenant, "payments", "re_1")).toBe(id);
  const lane = { name: "lane", expect: 0, lane: { holder: id, queue: [] } };
  await lazy.swap({ ...first, expect: 1, lane });
  expect((await lazy.readLane(tenant, "lane")).stored?.lane).toEqual(lane.lane);
  await lazy.prune({ tenant, tombstonesOlderThanMs: 0 });
  expect((await store.read(tenant, id)).stored).toBeUndefined();
});

test("a watcher hears of changes once the store is loaded, until it stops", async () => {
  const { lazy } = counted(memoryStore());
  expect(() => lazy.watch?.(tenant, id, () => {})()).not.toThrow();
  await lazy.open();
  let heard = 0;
  const stop = lazy.watch?.(tenant, id, () => {
    heard += 1;
  });
  await lazy.swap(first);
  expect(heard).toBe(1);
  stop?.();
  await lazy.swap({ ...first, expect: 1 });
  expect(heard).toBe(1);
});

test("a store that tells of no changes has watchers that hear nothing", async () => {
  const { watch: _, ...store } = memoryStore();
  const { lazy } = counted(store);
  await lazy.open();
  expect(() => lazy.watch?.(tenant, id, () => {})()).not.toThrow();
});

test("closing loads nothing, and closes what was loaded", async () => {
  const { lazy, loads } = counted(memoryStore());
  await lazy.close();
  expect(loads()).toBe(0);
  await lazy.open();
  await lazy.close();
  await expect(lazy.open()).rejects.toThrow(/closed/);
});

test("a witness is loaded by its first read, once, and is told from then on", async () => {
  const inner = memoryWitness();
  const calls: string[] = [];
  const tell: Witness = { ...inner, close: () => calls.push("close") };
  const lazy = lazyWitness(async () => {
    calls.push("load");
    return tell;
  });
  const mark = { id: "a", sequence: 5, since: 1 };
  lazy.note(mark);
  lazy.close();
  expect(calls).toEqual([]);
  expect(await lazy.read("a")).toBeUndefined();
  lazy.note({ ...mark, suspect: "it is older" });
  expect(await lazy.doubt("a")).toEqual({ ...mark, suspect: "it is older" });
  await lazy.trust({ ...mark, sequence: 6 }, "ana", 9);
  expect(await lazy.read("a")).toEqual({ ...mark, sequence: 6 });
  lazy.close();
  expect(calls).toEqual(["load", "close"]);
});
