import { describe, expect, test } from "vitest";
import { ClosedError, isHoldfireError } from "../../src/errors.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { storeContract } from "../../src/testing/store-contract.ts";

storeContract("memory", { open: ({ now }) => memoryStore({ now }) });

storeContract("memory, with a clock that tests cannot move", {
  open: () => memoryStore(),
  clock: "server",
});

let shared = memoryStore();
storeContract("memory, seen through two windows", {
  open: ({ now }) => {
    shared = memoryStore({ now });
    return windowOn(shared);
  },
  reopen: () => windowOn(shared),
});

/** A store that can be closed without its ledger. */
function windowOn(store: Store): Store {
  let closed = false;
  const open = (): Store => {
    if (closed) throw new ClosedError();
    return store;
  };
  return {
    ...store,
    open: async () => open().open(),
    swap: async (change) => open().swap(change),
    read: async (tenant, id) => open().read(tenant, id),
    readLane: async (tenant, name) => open().readLane(tenant, name),
    own: async (tenant, service, effectId, id) => open().own(tenant, service, effectId, id),
    ownerOf: async (tenant, service, effectId) => open().ownerOf(tenant, service, effectId),
    list: async (query) => open().list(query),
    prune: async (query) => open().prune(query),
    close: async () => {
      closed = true;
    },
  };
}

describe("the memory store", () => {
  test("says that it survives nothing, and whether that was accepted", () => {
    expect(memoryStore().promise).toMatchObject({
      survives: "nothing",
      mayForget: true,
      forgettingAccepted: false,
    });
    expect(memoryStore({ forgets: "accepted" }).promise.forgettingAccepted).toBe(true);
  });

  test("is another ledger each time it is made", async () => {
    expect((await memoryStore().open()).id).not.toBe((await memoryStore().open()).id);
  });

  test("takes its time from the clock it is given, and from the system's without one", async () => {
    expect((await memoryStore({ now: () => 7 }).open()).now).toBe(7);
    const before = Date.now();
    expect((await memoryStore().open()).now).toBeGreaterThanOrEqual(before);
  });

  test("gives out copies of what it holds: changing one changes nothing", async () => {
    const store = memoryStore();
    await store.swap(create(recordOf()));
    const { stored } = await store.read("acme", "operation-1");
    Object.assign(stored ?? {}, { version: 99 });
    const { items } = await store.list({ tenant: "acme" });
    expect(items[0]?.version).toBe(1);
  });

  test("lets two watchers of one record each hear and each stop", async () => {
    const store = memoryStore();
    const heard: string[] = [];
    const both = () => heard.push("both");
    const stopFirst = store.watch?.("acme", "operation-1", both);
    store.watch?.("acme", "operation-1", both);
    await store.swap(create(recordOf()));
    expect(heard).toHaveLength(2);
    stopFirst?.();
    await store.swap({ ...create(recordOf()), expect: 1 });
    expect(heard).toHaveLength(3);
  });

  test("a watcher that is stopped twice takes none with it that came after", async () => {
    const store = memoryStore();
    let calls = 0;
    const stop = store.watch?.("acme", "operation-1", () => calls++);
    stop?.();
    store.watch?.("acme", "operation-1", () => calls++);
    stop?.();
    await store.swap(create(recordOf()));
    expect(calls).toBe(1);
  });

  test("does not call the watcher of another tenant or another operation", async () => {
    const store = memoryStore();
    let calls = 0;
    store.watch?.("umbrella", "operation-1", () => calls++);
    store.watch?.("acme", "operation-2", () => calls++);
    await store.swap(create(recordOf()));
    expect(calls).toBe(0);
  });

  test("tells a watcher that its record was pruned", async () => {
    const store = memoryStore({ now: () => 1_000_000 });
    await store.swap(create(recordOf({ state: { tag: "committed", via: "reply" } })));
    let calls = 0;
    store.watch?.("acme", "operation-1", () => calls++);
    const pruned = await store.prune({ tenant: "acme", tombstonesOlderThanMs: 1 });
    expect(pruned.tombstones).toBe(1);
    expect(calls).toBe(1);
  });

  test("does not release an effect that another operation owns by now", async () => {
    const store = memoryStore();
    const remove = { ...create(recordOf()), record: undefined };
    const own = (id: string) => store.own("acme", "payments", "re_1", id);
    for (const owner of ["operation-1", "operation-2"]) {
      const { version } = await mustSwap(store, create(recordOf()));
      expect(await own(owner)).toBe(owner);
      await mustSwap(store, { ...remove, expect: version });
    }
    expect(await store.ownerOf("acme", "payments", "re_1")).toBe("operation-2");
  });

  test("tells a lane that is gone as an empty one", async () => {
    const lane = { name: "payment/p1", expect: 7, lane: { queue: [] } };
    const refused = await memoryStore().swap({ ...create(recordOf()), lane });
    expect(refused).toMatchObject({ ok: false, lane: { lane: { queue: [] }, version: 0 } });
  });

  test("cannot be watched once it is closed", async () => {
    const store = memoryStore();
    await store.close();
    expect(() => store.watch?.("acme", "operation-1", () => {})).toThrow(/closed/);
  });

  test.each(["", "x", "-1", "1.5", "1e400", "NaN"])("refuses %j as a cursor", async (cursor) => {
    const error: unknown = await memoryStore()
      .list({ tenant: "acme", cursor })
      .catch((thrown: unknown) => thrown);
    expect(isHoldfireError(error) && error.code).toBe("ERR_HOLDFIRE_INVALID_INPUT");
  });
});
