/**
 * Whether what a search without the key finds may be the effect of another operation of the same tool and intent, whose reply
 * is still to come. If this operation took it, both would be told as done, and there would be one effect.
 *
 * Operations that are all in doubt do not wait for each other: none of them gets a reply, equal effects are as good as each
 * other, and the store gives each to one. Nor does one wait for operations without end: what is there already was made by
 * none that begins later.
 *
 * @module
 */

import { canonicalize } from "../key/canonical.ts";
import { putBounded } from "../lang/bounded.ts";
import {
  type AttemptNote,
  isCleared,
  type OperationRecord,
  type Stored,
} from "../ledger/record.ts";
import type { Engine } from "./engine.ts";
import type { Operation } from "./operation/operation.ts";
import { askStore, listRecords } from "./store-call.ts";

/** So many pages of what is under way are looked through. Of more than that, one may be the same. */
const MOST_PAGES = 10;
const PAGE = 100;

/**
 * Whose an effect is that was found by likeness, and not by the key. `taken`: an operation has it already, perhaps this one.
 * `open`: an equal operation which is under way may have made it.
 */
export async function whoseIs(
  operation: Operation,
  effectId: string,
  engine: Engine,
): Promise<"taken" | "open" | "free"> {
  const { ref, tool } = operation;
  const foundAt = firstFound(operation, effectId, engine);
  const asked = engine.ledger.store.ownerOf(ref.tenant, tool.service, effectId);
  if ((await askStore(engine, "read", asked)) !== undefined) return "taken";
  return (await isSameUnderWay(operation, foundAt, engine)) ? "open" : "free";
}

/** Of so many operations it is kept when their effect was first found. */
const MOST_FOUND = 1_000;

/** When this effect was first found for the operation, no earlier. A search that finds another one begins anew. */
function firstFound(
  { ref }: Operation,
  effectId: string,
  { tenantState: { found }, ledger }: Engine,
): number {
  const before = found.get(ref.id);
  if (before?.effectId === effectId) return before.at;
  const at = ledger.clock.latest();
  putBounded(found, ref.id, { effectId, at }, MOST_FOUND);
  return at;
}

/** `foundAt`: when the effect was there. */
export async function isSameUnderWay(
  operation: Operation,
  foundAt: number,
  engine: Engine,
): Promise<boolean> {
  const { ref, tool } = operation;
  const wanted = intentOf(operation);
  if (wanted === undefined) return false;
  const now = engine.ledger.clock.earliest();
  const isSame = ({ record, leaseUntil = 0 }: Stored): boolean => {
    if (record.id === ref.id || leaseUntil <= now || !record.intent) return false;
    if (!mayHaveMade(record, foundAt) || !mayGetReply(record, now, engine)) return false;
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

const mayHaveMade = ({ attempts }: OperationRecord, foundAt: number): boolean =>
  attempts.some((attempt) => !isCleared(attempt) && attempt.at <= foundAt);

function mayGetReply(record: OperationRecord, now: number, { live }: Engine): boolean {
  const { epoch, attempts, evidence } = record;
  // It has come, and is not settled yet.
  if (evidence.some(({ verdict }) => verdict === "committed")) return true;
  const inDoubt = live.execution(record.id)?.inDoubt;
  const isOver = ({ n, ...attempt }: AttemptNote) =>
    attempt.endedAt !== undefined ||
    // Its owner was another one, and says no more that it runs.
    (attempt.epoch !== epoch && (attempt.endsBy ?? 0) <= now) ||
    (inDoubt?.epoch === attempt.epoch && n <= inDoubt.n);
  return attempts.some((attempt) => !isCleared(attempt) && !isOver(attempt));
}

/** `undefined` where it is no longer kept: only a reader that looks for the key could have found anything. */
function intentOf(operation: Operation): string | undefined {
  try {
    return canonicalize(operation.intent, "intent").text;
  } catch {
    return undefined;
  }
}
