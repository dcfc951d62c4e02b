/**
 * A store in whose writes the process can die: with the write on its way to the ledger, or when it is written and its
 * answer was not seen yet. Nothing dies unless it was told to.
 *
 * @module
 */

import type { Store } from "../../src/ledger/store.ts";
import type { WriteSpot } from "./tool-body.ts";

let doom: { left: number; readonly when: WriteSpot["when"] } | undefined;

/** This process dies in its so-many-th write from now on. */
export function dieInWrite({ write, when }: WriteSpot): void {
  doom = { left: write, when };
}

export function mortalStore(inner: Store): Store {
  return Object.assign(Object.create(inner) as Store, {
    async swap(change: Parameters<Store["swap"]>[0]) {
      if (doom) doom.left -= 1;
      const writing = inner.swap(change);
      if (doom?.left !== 0) return writing;
      // The request is handed to the network in the turns of the loop that follow; SQLite has written by then.
      if (doom.when === "on_its_way") await new Promise((resolve) => setImmediate(resolve));
      else await writing;
      process.kill(process.pid, "SIGKILL");
      return writing;
    },
  });
}
