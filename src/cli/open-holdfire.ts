/**
 * The holdfire of a command: on the ledger that was named, without any tool. It can look, and be a
 * person's hand; it fires nothing.
 *
 * @module
 */

import { createHoldfire, type Holdfire } from "../create.ts";
import { type OpenedStore, openStore, type StoreChoice } from "./open-store.ts";
import type { Terminal } from "./terminal.ts";

export interface LedgerChoice extends StoreChoice {
  readonly tenant?: string | undefined;
}

/** Opens, works and closes, however the work ends. */
export async function withLedger<T>(
  choice: LedgerChoice,
  terminal: Terminal,
  work: (hf: Holdfire, opened: OpenedStore) => Promise<T>,
): Promise<T> {
  const opened = await openStore(choice, terminal);
  try {
    const { store, witness } = opened;
    const hf = createHoldfire({ store, witness, tenant: choice.tenant });
    try {
      return await work(hf, opened);
    } finally {
      await hf.close();
    }
  } finally {
    await opened.close();
  }
}
