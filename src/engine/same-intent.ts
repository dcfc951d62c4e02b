/**
 * Whether another operation of the same tool and intent is under way. What a search without the key finds may be the effect
 * of that one, whose reply is still to come. If this operation took it, its own effect would be reported as done, and missing.
 *
 * @module
 */

import { canonicalize } from "../key/canonical.ts";
import type { Stored } from "../ledger/record.ts";
import type { Engine } from "./engine.ts";
import type { Operation } from "./operation/operation.ts";
import { listRecords } from "./store-call.ts";

/** So many pages of what is under way are looked through. Of more than that, one may be the same. */
const MOST_PAGES = 10;
const PAGE = 100;

export async function isSameUnderWay(operation: Operation, engine: Engine): Promise<boolean> {
  const { ref, tool } = operation;
  const wanted = intentOf(operation);
  if (wanted === undefined) return false;
  const now = engine.ledger.clock.earliest();
  const isSame = ({ record, leaseUntil = 0 }: Stored): boolean => {
    if (record.id === ref.id || leaseUntil <= now || !record.intent) return false;
    const decoded = engine.codec.decode(record.intent, record);
    return decoded.ok && canonicalize(decoded.value, "intent").text === wanted;
  };
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { tool: tool.name, states: ["claimed"] as const, cursor, limit: PAGE };
    const found = await listRecords(engine, query);
    if (found.items.some(isSame)) return true;
    ({ cursor } = found);
    if (cursor === undefined) return false;
  }
  return true;
}

/** `undefined` where it is no longer kept: only a reader that looks for the key could have found anything. */
function intentOf(operation: Operation): string | undefined {
  try {
    return canonicalize(operation.intent, "intent").text;
  } catch {
    return undefined;
  }
}
