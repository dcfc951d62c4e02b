/**
 * A process that opens a ledger, waits for the start, claims every key, and tells which it won.
 *
 * @module
 */

import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";

const store = sqliteStore({ path: process.argv[2] });
const holder = process.argv[3] ?? "";
await store.open();
process.send?.("ready");
process.once("message", async (keys: readonly string[]) => {
  const claim = async (id: string): Promise<string | undefined> => {
    const record = recordOf({ id, state: { tag: "claimed", holder } });
    const swapped = await store.swap({ tenant: "acme", id, expect: 0, record, lease: 60_000 });
    return swapped.ok ? id : undefined;
  };
  const won: (string | undefined)[] = [];
  // Ten at a time: the processes meet more often than once.
  for (let first = 0; first < keys.length; first += 10) {
    won.push(...(await Promise.all(keys.slice(first, first + 10).map(claim))));
  }
  await store.close();
  process.send?.(
    won.filter((id) => id !== undefined),
    () => process.disconnect(),
  );
});
