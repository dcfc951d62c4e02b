/**
 * A real memory store behind a switch: its answers can be refused, lost or kept waiting.
 *
 * @module
 */

import type { Change, Store } from "../../src/ledger/store.ts";
import { type MemoryStoreOptions, memoryStore } from "../../src/stores/memory.ts";

export type Trouble =
  /** Nothing is done, and it says so. */
  | "rejects"
  /** Nothing is done until `recover`; then it is, and the answer comes. */
  | "hangs"
  /** It is done, and the answer never comes. */
  | "loses-replies";

export interface FailingStore extends Store {
  /** Puts every call that `applies` picks into trouble; `undefined` ends it for new calls. */
  fail(trouble: Trouble | undefined, applies?: (step: string, change?: Change) => boolean): void;
  /** Ends the trouble, and lets those that hang go on. */
  recover(): void;
  /** Everything it was asked, in order. */
  readonly asked: readonly string[];
}

export function failingStore(options: MemoryStoreOptions = {}): FailingStore {
  const store = memoryStore(options);
  const asked: string[] = [];
  let trouble: Trouble | undefined;
  let applies: (step: string, change?: Change) => boolean = () => true;
  let waiting: (() => void)[] = [];

  async function go<T>(step: string, work: () => Promise<T>, change?: Change): Promise<T> {
    asked.push(step);
    if (trouble === undefined || !applies(step, change)) return work();
    switch (trouble) {
      case "rejects":
        throw new Error("The store is down.");
      case "loses-replies":
        await work();
        return new Promise<never>(() => {});
      case "hangs":
        await new Promise<void>((resolve) => waiting.push(resolve));
        return work();
    }
  }

  return {
    ...store,
    open: () => go("open", () => store.open()),
    swap: (change) => go(stepOf(change), () => store.swap(change), change),
    read: (tenant, id) => go("read", () => store.read(tenant, id)),
    own: (...args) => go("own", () => store.own(...args)),
    ownerOf: (...args) => go("ownerOf", () => store.ownerOf(...args)),
    list: (query) => go("list", () => store.list(query)),
    fail(how, which = () => true) {
      trouble = how;
      applies = which;
    },
    recover() {
      trouble = undefined;
      const those = waiting;
      waiting = [];
      for (const resume of those) resume();
    },
    asked,
  };
}

/** What a swap is for, by the state it leads to: `swap:claimed`, `swap:committed`, `swap:removed`. */
const stepOf = ({ record }: Change): string => `swap:${record?.state.tag ?? "removed"}`;
