/**
 * Compares one committed operation with what the service has now. It only reads.
 *
 * @module
 */

import { effectOf } from "../engine/define/effect.ts";
import type { Reading } from "../engine/define/reading.ts";
import type { Tool } from "../engine/define/tool.ts";
import type { Engine } from "../engine/engine.ts";
import { factsOf, type Operation } from "../engine/operation/operation.ts";
import { storedResult } from "../engine/outcome/replay.ts";
import { askReader } from "../engine/reader.ts";
import type { OperationFacts } from "../errors.ts";
import { showScope } from "../key/scope.ts";
import { withTimeLimit } from "../lang/clock.ts";
import type { OperationRecord, State } from "../ledger/record.ts";
import { recallSettled } from "./recall-operation.ts";

type Committed = Extract<State, { tag: "committed" }>;

interface OfCommitted extends OperationFacts {
  readonly scope: string;
  /** The service's id of the effect, as the ledger has it. */
  readonly effectId?: string | undefined;
}

/** It was committed, and the reader does not find it. */
export interface GoneFinding extends OfCommitted {
  readonly finding: "gone";
}

/** The service has it more than once. */
export interface DuplicatedFinding extends OfCommitted {
  readonly finding: "duplicated";
  readonly count: number;
}

/** How the service differs from what the ledger has of a committed operation. */
export type CommittedFinding =
  | GoneFinding
  | DuplicatedFinding
  /** `effect.same` returned `false`, or the reader finds another effect instead. */
  | (OfCommitted & {
      readonly finding: "changed";
      readonly foundEffectId?: string | undefined;
    });

/** An operation that could not be compared. */
export interface NotCompared extends OperationFacts {
  /**
   * `"intent_not_kept"`: the reader needs the intent, which is wiped once an operation is settled;
   * `"reader_blind"`: the reader finds none of the commits that are known; `"reader_unchecked"`: the report was stopped
   * before its reader was checked; `"too_fresh"`: within `commitsWithinMs`;
   * `"in_progress"`: the reader says so; `"other_version"`: made by another version of the tool;
   * `"comparison_failed"`: `effect.same` threw, hung or did not return a boolean; or what the reader gave as the reason
   * of its `cannotTell`.
   */
  readonly why: string;
}

export interface Compared {
  readonly finding?: CommittedFinding | undefined;
  readonly notCompared?: NotCompared | undefined;
  /** The reader found it, be it as it may. */
  readonly found?: boolean | undefined;
  /** The effects that belong to this operation. */
  readonly effectIds: readonly string[];
}

export async function compare(
  record: OperationRecord,
  state: Committed,
  tool: Tool,
  engine: Engine,
): Promise<Compared> {
  let tookIntent = false;
  const operation = recallSettled(record, tool, () => {
    tookIntent = true;
  });
  const facts = factsOf(operation, record.generation);
  const about = { ...facts, scope: showScope(record.scope), effectId: state.effectId };
  const recorded = effectIdsOf(record, state);
  // Two replies with two ids: no read is needed to know.
  if (recorded.length > 1) {
    const finding = { ...about, finding: "duplicated", count: recorded.length } as const;
    return { finding, effectIds: recorded };
  }
  if (!tool.readState) return { effectIds: recorded };
  if (record.version !== tool.version) {
    return { notCompared: { ...facts, why: "other_version" }, effectIds: recorded };
  }
  const beganAt = engine.ledger.clock.earliest();
  const reading = await askReader(operation, record, tool.readTimeoutMs, engine, {
    tag: "has_its_own",
    effectId: undefined,
  });
  const found = effectIdsIn(reading, tool);
  const effectIds = [...found, ...recorded];
  const notCompared = (why: string): Compared => ({ notCompared: { ...facts, why }, effectIds });
  switch (reading.reading) {
    case "duplicated": {
      const count = reading.results.length;
      return { finding: { ...about, finding: "duplicated", count }, effectIds, found: true };
    }
    case "absent":
      if (beganAt <= record.stateAt + (tool.commitsWithinMs ?? 0)) return notCompared("too_fresh");
      return { finding: { ...about, finding: "gone" }, effectIds };
    case "in_progress":
      return notCompared("in_progress");
    case "cannot_tell":
      return notCompared(tookIntent ? "intent_not_kept" : reading.why);
    case "committed": {
      const [foundEffectId] = found;
      const other = state.effectId !== undefined && foundEffectId !== undefined;
      if (other && foundEffectId !== state.effectId) {
        return { finding: { ...about, finding: "changed", foundEffectId }, effectIds, found: true };
      }
      const same = await isSame(operation, state, reading.result, engine);
      if (same === false) {
        return { finding: { ...about, finding: "changed", foundEffectId }, effectIds, found: true };
      }
      const failed = same === "cannot_tell" ? notCompared("comparison_failed") : { effectIds };
      return { ...failed, found: true };
    }
  }
}

/** `undefined`: there is nothing to compare with. */
async function isSame(
  operation: Operation,
  { payload }: Committed,
  found: unknown,
  engine: Engine,
): Promise<boolean | "cannot_tell" | undefined> {
  const { effect, readTimeoutMs } = operation.tool;
  const { same } = effect;
  const stored = payload && storedResult(operation, payload, engine);
  if (!same || !stored?.ok) return undefined;
  const asked = Promise.resolve().then(() => same(stored.value, found));
  const inTime = await withTimeLimit(engine.clock, readTimeoutMs, asked);
  return inTime.tag === "done" && typeof inTime.value === "boolean" ? inTime.value : "cannot_tell";
}

function effectIdsIn(reading: Reading<unknown>, tool: Tool): readonly string[] {
  if (reading.reading === "duplicated") {
    return reading.results.flatMap((result) => effectOf(tool, result).effectId ?? []);
  }
  if (reading.reading !== "committed") return [];
  const effectId = reading.effectId ?? effectOf(tool, reading.result).effectId;
  return effectId === undefined ? [] : [effectId];
}

/** All effects that the ledger has of this operation. */
export function effectIdsOf(
  { evidence }: OperationRecord,
  { effectId }: Committed,
): readonly string[] {
  const all = [effectId, ...evidence.map((seen) => seen.effectId)];
  return [...new Set(all.filter((id) => id !== undefined))];
}
