/**
 * The independent checker. It knows nothing of the engine: it compares the service's own logs, the
 * history of the ledger and what callers were told, and names the invariant that was broken.
 */

import type { OperationRecord } from "../../src/ledger/record.ts";
import { checkCallers } from "./check-callers.ts";
import { checkHistory } from "./check-history.ts";
import { checkService } from "./check-service.ts";
import { checkTold } from "./check-told.ts";
import { checkWords } from "./check-words.ts";
import type { Sent } from "./world/network.ts";
import type { Effect } from "./world/service.ts";
import type { Written } from "./world/store.ts";
import type { Call } from "./world/world.ts";

/** All that the checker is shown. */
export interface Evidence {
  readonly sends: readonly Sent[];
  readonly effects: readonly Effect[];
  readonly history: readonly Written[];
  readonly dump: readonly OperationRecord[];
  readonly calls: readonly Call[];
  /** How often a person let an operation be fired again. */
  readonly resolved: ReadonlyMap<string, number>;
  /** How often the reaper took a settled operation. */
  readonly forgotten: ReadonlyMap<string, number>;
  readonly clocksSet: ReadonlySet<unknown>;
  /** When the way to the store was bad for the first time. */
  readonly storeTroubledAt: number;
}

export type Invariant =
  | "I1 at most one effect"
  | "I1 at most one send that could have arrived"
  | "I1 after a yes only a person fires again"
  | "I1 only seen is not proved"
  | "I2 nothing is lost silently"
  | "I3 claimed before it is sent"
  | "I4 one key per intent"
  | "I5 committed is true"
  | "I5 not applied is true for ever"
  | "I6 a replay is equal and sends nothing"
  | "I7 fencing"
  | "I7 what is settled stays settled"
  | "I7 late truth is recorded"
  | "I8 another intent under the same key is a conflict"
  | "I9 an error means that nothing was sent"
  | "I10 no more requests than attempts"
  | "I11 nothing is sent after the end"
  | "I12 bounded"
  | "I13 what is there is not made again"
  | "I14 liveness"
  | "I15 deliberate repetitions happen"
  | "I16 the words are true"
  | "I17 what is abandoned is not fired"
  | "I18 another wording waits"
  | "I19 still running is true";

export interface Violation {
  readonly invariant: Invariant;
  readonly detail: string;
}

/** The name by which the world knows an operation. */
export const opOfRecord = (record: OperationRecord): string => record.aliases[0] ?? record.id;

export function check(evidence: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  const broken = (invariant: Invariant, detail: string) => void found.push({ invariant, detail });
  checkService(evidence, broken);
  checkCallers(evidence, broken);
  checkHistory(evidence, broken);
  checkWords(evidence, broken);
  checkTold(evidence, broken);
  return found;
}

/**
 * Operations of which another process than the one that fired took an absence for proof when both of the clocks it
 * has for that, the store's and its host's, were set: by these alone it cannot be late enough.
 */
export function mistimedIn({ history, sends, clocksSet }: Evidence): ReadonlySet<string> {
  if (!clocksSet.has("store")) return new Set();
  const isSet = (life: string) => clocksSet.has(Number(/^p(\d+)/.exec(life)?.[1]));
  const mistimed = history.flatMap(({ by, before, after }) => {
    const op = after ? opOfRecord(after) : "";
    const cleared = (after?.attempts ?? []).filter(
      ({ n, cleared }) =>
        cleared === "absent" && !before?.attempts.some((one) => one.n === n && one.cleared),
    );
    const isOthers = cleared.some(({ n }) =>
      sends.some(
        (sent) =>
          sent.op === op && sent.attempt === n && sent.by !== by && (isSet(sent.by) || isSet(by)),
      ),
    );
    return isOthers ? [op] : [];
  });
  return new Set(mistimed);
}

export type Broken = (invariant: Invariant, detail: string) => void;

export function byOp<T extends { readonly op: string }>(
  all: readonly T[],
): ReadonlyMap<string, T[]> {
  const grouped = new Map<string, T[]>();
  for (const one of all) {
    const those = grouped.get(one.op);
    if (those) those.push(one);
    else grouped.set(one.op, [one]);
  }
  return grouped;
}

export const show = ({ seq, op, attempt, by, at, fate }: Sent): string =>
  `send ${seq} (${op} attempt ${attempt} by ${by} at ${at}: ${fate})`;
