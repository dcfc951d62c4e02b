/**
 * The whole ledger of a tenant, page by page, with a word on how far it has come.
 *
 * @module
 */

import type { OperationQuery, OperationView } from "../engine/admin/operations.ts";
import type { Holdfire } from "../holdfire.ts";
import { FailedError } from "./exit.ts";
import type { Terminal } from "./terminal.ts";

const PAGE = 500;

/** Ends early when the person stops it: what was asked for is then not known. */
export async function* eachOperation(
  hf: Holdfire,
  terminal: Terminal,
  query: OperationQuery = {},
): AsyncGenerator<OperationView> {
  let looked = 0;
  let cursor: string | undefined;
  try {
    do {
      if (terminal.signal.aborted) throw new FailedError("Stopped before the end.");
      const page = await hf.operations.list({ ...query, limit: PAGE, cursor });
      yield* page.items;
      looked += page.items.length;
      if (page.cursor !== undefined) terminal.status(`looked at ${looked} operations`);
      ({ cursor } = page);
    } while (cursor !== undefined);
  } finally {
    terminal.status("");
  }
}
