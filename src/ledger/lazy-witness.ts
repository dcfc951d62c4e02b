/**
 * A witness that is loaded when the ledger is opened, with what it needs of the file system.
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
    // The ledger reads before it notes.
    note: (mark) => loaded?.note(mark),
    trust: async (mark, by, at) => (await get()).trust(mark, by, at),
    close: () => loaded?.close(),
  };
}
