/**
 * The default store and its witness, loaded at their first use, so that importing holdfire loads no store and no
 * file system module. The only lazy loading in the core.
 *
 * @module
 */

import type { Store, StorePromise } from "./store.ts";
import type { Witness } from "./witness/witness.ts";

const NOT_YET: StorePromise = {
  survives: "nothing",
  mayForget: false,
  forgettingAccepted: false,
  text: "not opened yet",
};

/** Of the optional methods it has `watch` alone, as SQLite has. */
export function lazyDefaultStore(name: string, load: () => Promise<Store>): Store {
  let loading: Promise<Store> | undefined;
  let loaded: Store | undefined;
  const get = (): Promise<Store> => {
    loading ??= load().then(
      (store) => {
        loaded = store;
        return store;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
  return {
    name,
    get address() {
      return loaded?.address;
    },
    get promise() {
      return loaded?.promise ?? NOT_YET;
    },
    open: async () => (await get()).open(),
    swap: async (change) => (await get()).swap(change),
    read: async (tenant, id) => (await get()).read(tenant, id),
    readLane: async (tenant, lane) => (await get()).readLane(tenant, lane),
    own: async (tenant, service, effectId, id) => (await get()).own(tenant, service, effectId, id),
    ownerOf: async (tenant, service, effectId) => (await get()).ownerOf(tenant, service, effectId),
    list: async (query) => (await get()).list(query),
    prune: async (query) => (await get()).prune(query),
    watch: (tenant, id, changed) => loaded?.watch?.(tenant, id, changed) ?? (() => {}),
    close: async () => loaded?.close(),
  };
}

export function lazyWitness(load: () => Promise<Witness>): Witness {
  let loading: Promise<Witness> | undefined;
  let loaded: Witness | undefined;
  const get = async (): Promise<Witness> => {
    loading ??= load();
    loaded = await loading;
    return loaded;
  };
  return {
    read: async (id) => (await get()).read(id),
    doubt: async (id) => (await get()).doubt(id),
    // The ledger calls `read` before `note`, so it is loaded by then.
    note: (mark) => loaded?.note(mark),
    trust: async (mark, by, at) => (await get()).trust(mark, by, at),
    close: () => loaded?.close(),
  };
}
