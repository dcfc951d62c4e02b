/** The part of the checker for calls that were told that something is open: who must wait, and what still runs. */

import type { OperationRecord } from "../../src/ledger/record.ts";
import { type Broken, type Evidence, opOfRecord, show } from "./checker.ts";
import type { Sent } from "./world/network.ts";
import { TIMES, traitsOf } from "./world/settings.ts";
import type { Call } from "./world/world.ts";

export function checkTold(evidence: Evidence, broken: Broken): void {
  anotherWordingWaits(evidence, broken);
  stillRunning(evidence, broken);
}

/** What a model that was told unknown words anew is not fired while the first may still land. */
function anotherWordingWaits(evidence: Evidence, broken: Broken): void {
  const { calls, history, storeTroubledAt, forgotten } = evidence;
  const byModel = calls.filter(({ spec }) => spec.step !== undefined && spec.key === undefined);
  for (const call of byModel) {
    const fired = firstFiredBy(call, evidence);
    const told = byModel.filter((other) => isToldBefore(other, call, storeTroubledAt));
    if (fired) {
      const open = told.find(
        ({ op }) => !forgotten.get(op) && isOpenAt(op, call.spec.step, fired.ledgerAt, history),
      );
      if (open) broken("I18 another wording waits", `${open.op} is open, and ${show(fired)}`);
    }
    if (call.outcome?.status === "held" && !calls.some((other) => mayHold(other, call))) {
      broken("I18 another wording waits", `${call.op}: held, and no other was told as open`);
    }
  }
}

const isSameTool = ({ spec }: Call, other: Call): boolean =>
  spec.tool === other.spec.tool && spec.scope === other.spec.scope;

const isToldBefore = (other: Call, call: Call, troubledAt: number): boolean =>
  isSameTool(other, call) &&
  other.op !== call.op &&
  other.spec.step !== call.spec.step &&
  other.outcome?.status === "unknown" &&
  other.outcome.recorded &&
  // What could not be written down is not known to others.
  (other.endedAt ?? troubledAt) < Math.min(call.at, troubledAt);

/** The question may be one that an earlier call has asked; and a process may die while it tells. */
const mayHold = (other: Call, call: Call): boolean =>
  isSameTool(other, call) &&
  other.op !== call.op &&
  other.spec.step !== undefined &&
  (other.outcome === undefined || OPEN.has(other.outcome.status)) &&
  (other.endedAt ?? other.at) <= (call.endedAt ?? 0);

const OPEN: ReadonlySet<string> = new Set(["unknown", "in_progress"]);

/** The first request of the operation, if this call alone can have made it. */
function firstFiredBy({ op, by, at, endedAt = 0 }: Call, evidence: Evidence): Sent | undefined {
  const own = evidence.sends.filter((sent) => sent.op === op && !sent.late);
  const others = evidence.calls.filter((call) => call.op === op && call.at <= endedAt);
  const [first] = own;
  if (!first || others.length > 1 || first.by !== by) return undefined;
  return first.at >= at && first.at <= endedAt ? first : undefined;
}

/** Whether another was in doubt then, not given up, and not of the same step of the model. */
function isOpenAt(
  op: string,
  step: string | undefined,
  ledgerAt: number,
  history: Evidence["history"],
): boolean {
  const last = history
    .slice(0, ledgerAt)
    .findLast(({ before, after }) => isOf(op, after) || isOf(op, before))?.after;
  return last?.state.tag === "unknown" && last.abandonedFor === undefined && last.step !== step;
}

const isOf = (op: string, record: OperationRecord | undefined): boolean =>
  record !== undefined && opOfRecord(record) === op;

/** What may pass between the decision and the word: trips to the store, each as long as it is given if the way is bad. */
const tellingMs = (isTroubled: boolean): number => (isTroubled ? 4 : 1) * TIMES.store;

/** Slow is not lost: what is told as still running has not been answered. */
function stillRunning({ calls, sends, storeTroubledAt }: Evidence, broken: Broken): void {
  for (const { op, spec, outcome, endedAt = 0, frozenMs = 0 } of calls) {
    if (outcome?.status !== "in_progress" || outcome.reason !== "still_running") continue;
    const { tool, manner = "plain" } = spec;
    if (traitsOf(tool).composite || (traitsOf(tool).wire && manner !== "plain")) continue;
    // It may run in another process, whose outcome this one was given.
    const own = sends.filter((sent) => sent.op === op && sent.at <= endedAt);
    // What was never sent may still wait for its connection.
    if (own.length === 0) continue;
    const decidedAt = endedAt - frozenMs - tellingMs(storeTroubledAt <= endedAt);
    const runs = own.some(({ heard, heardAt = 0 }) => !heard || heardAt > decidedAt);
    if (!runs) broken("I19 still running is true", `${op}: told so at ${endedAt}`);
  }
}
