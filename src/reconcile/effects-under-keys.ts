/**
 * Effects that the service lists under keys of ours, and that the ledger does not have: what they say of the operations
 * that were sent under these keys.
 *
 * @module
 */

import type { Engine } from "../engine/engine.ts";
import { listEveryRecord } from "../engine/store-call.ts";
import type { OperationFacts } from "../errors.ts";
import { isWireKey, wireKey, wireKeys } from "../key/mint.ts";
import { showScope } from "../key/scope.ts";
import type { OperationRecord, StateTag } from "../ledger/record.ts";
import type { ListQuery } from "../ledger/store.ts";
import { type DuplicatedFinding, effectIdsOf } from "./compare.ts";

const PAGE = 1_000;
const DAY_MS = 24 * 3_600_000;

/** An effect under the key of an operation that was settled as not applied, or never sent. */
export interface UnexpectedFinding extends OperationFacts {
  readonly finding: "unexpected";
  readonly scope: string;
  readonly effectId: string;
  /** The state of the operation in the ledger. */
  readonly state: StateTag;
}

/** An effect as the service lists it. */
interface KeyedEffect {
  readonly effectId: string;
  readonly key?: string | undefined;
  readonly at?: number | undefined;
}

/** What effects under the keys of an operation are, which the ledger does not have as effects of it. */
export function judgeEffects(
  record: OperationRecord,
  effects: readonly KeyedEffect[],
): readonly (UnexpectedFinding | DuplicatedFinding)[] {
  const { tool, id, generation, state } = record;
  const about = { tool, id, key: wireKey(id, generation), scope: showScope(record.scope) };
  // Open: reconcile finds out.
  if (state.tag === "unknown" || state.tag === "claimed") return [];
  if (state.tag !== "committed") {
    const finding = { ...about, finding: "unexpected", state: state.tag } as const;
    return effects.map(({ effectId }) => ({ ...finding, effectId }));
  }
  const count = effectIdsOf(record, state).length + effects.length;
  // One alone is its own: what a person resolved as committed has no effect id.
  if (count === 1) return [];
  return [{ ...about, finding: "duplicated", effectId: state.effectId, count }];
}

/** The operations under whose keys these effects were sent. */
export async function operationsUnder<E extends KeyedEffect>(
  effects: readonly E[],
  mayGoOn: () => boolean,
  engine: Engine,
): Promise<ReadonlyMap<OperationRecord, readonly E[]>> {
  const sent = new Map<string, E[]>();
  for (const effect of effects) {
    const { key } = effect;
    if (key === undefined || !isWireKey(key)) continue;
    sent.set(key, [...(sent.get(key) ?? []), effect]);
  }
  const made = new Map<OperationRecord, readonly E[]>();
  if (sent.size === 0) return made;
  // An operation reaches its state after its effect, or before it by no more than an effect can be late.
  const first = Math.min(...effects.map(({ at }) => at ?? Number.NEGATIVE_INFINITY));
  const since = Number.isFinite(first) ? first - DAY_MS : undefined;
  for await (const record of recordsOf({ since }, engine)) {
    const its = wireKeys(record.id, record.generation).flatMap((key) => {
      const under = sent.get(key) ?? [];
      sent.delete(key);
      return under;
    });
    if (its.length > 0) made.set(record, its);
    if (sent.size === 0 || !mayGoOn()) break;
  }
  return made;
}

export async function* recordsOf(
  which: Pick<ListQuery, "states" | "since">,
  engine: Engine,
): AsyncGenerator<OperationRecord> {
  let cursor: string | undefined;
  do {
    const page = await listEveryRecord(engine, { ...which, cursor, limit: PAGE });
    for (const { record } of page.items) yield record;
    ({ cursor } = page);
  } while (cursor !== undefined);
}
