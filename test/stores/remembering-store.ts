/**
 * A memory store that is taken for a disk, where the test is not about what a store forgets: a missing record
 * is then not read first.
 *
 * @module
 */

import type { Store } from "../../src/ledger/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";

export function rememberingStore(now?: () => number): Store {
  const store = memoryStore({ now });
  return { ...store, promise: { ...store.promise, mayForget: false } };
}
