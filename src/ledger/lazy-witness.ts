/**
 * A witness that is loaded when the ledger is opened, so that importing holdfire does not load the
 * file system modules it needs.
 *
 * @module
 */

import type { Witness } from "./witness.ts";

export function lazyWitness(load: () => Promise<Witness>): Witness {
  let loading: Promise<Witness> | undefined;
  let loaded: Witness | undefined;
  const get = async (): Promise<Witness> => {
    loading ??= load();
    loaded = await loading;
    return loaded;
  };
  return {
    read: async () => (await get()).read(),
    doubt: async () => (await get()).doubt(),
    // The ledger calls `read` before `note`, so it is loaded by then.
    note: (mark) => loaded?.note(mark),
    trust: async (mark, by, at) => (await get()).trust(mark, by, at),
    close: () => loaded?.close(),
  };
}
