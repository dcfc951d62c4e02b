/** The part of the checker that holds what callers were told against what is true. */

import { isHoldfireError } from "../../src/errors.ts";
import type { OperationRecord } from "../../src/ledger/record.ts";
import { type Broken, byOp, type Evidence, mistimedIn, opOfRecord, show } from "./checker.ts";
import type { Sent } from "./world/network.ts";
import { TIMES, traitsOf } from "./world/settings.ts";
import type { Call } from "./world/world.ts";

export function checkCallers(evidence: Evidence, broken: Broken): void {
  const rules = [nothingLost, truthOfCommitted, truthOfNotApplied, conflicts, errors, bounds];
  for (const rule of rules) rule(evidence, broken);
}

function nothingLost({ effects, dump, calls, forgotten }: Evidence, broken: Broken): void {
  const known = new Map(dump.map((record) => [opOfRecord(record), record]));
  for (const { op, id } of effects) {
    if (!known.has(op) && !forgotten.get(op)) {
      broken("I2 nothing is lost silently", `${op}: ${id} exists, and the ledger has no row`);
    }
  }
  for (const { op, outcome, endedAt } of calls) {
    if (!outcome || forgotten.get(op)) continue;
    const { status } = outcome;
    if (status === "unknown" && !known.has(op)) {
      broken(
        "I2 nothing is lost silently",
        `${op}: unknown at ${endedAt}, and the ledger has no row`,
      );
    }
    if (status === "committed" && outcome.recorded && known.get(op)?.state.tag !== "committed") {
      const state = known.get(op)?.state.tag;
      broken("I2 nothing is lost silently", `${op}: told committed, the ledger says ${state}`);
    }
  }
}

function truthOfCommitted({ calls, dump, effects }: Evidence, broken: Broken): void {
  const of = byOp(effects);
  for (const { op, spec, outcome, endedAt = 0 } of calls) {
    if (outcome?.status !== "committed" || traitsOf(spec.tool).composite) continue;
    const there = (of.get(op) ?? []).filter(({ at }) => at <= endedAt);
    if (there.length === 0) broken("I5 committed is true", `${op}: told committed, no effect`);
    const result = outcome.result?.effect;
    if (result !== undefined && !there.some(({ id }) => id === result)) {
      broken("I15 deliberate repetitions happen", `${op}: got ${result}, which is not its own`);
    }
  }
  for (const record of dump) {
    const op = opOfRecord(record);
    if (record.state.tag !== "committed" || record.tool === "X" || of.has(op)) continue;
    broken("I5 committed is true", `${op}: the ledger says committed, no effect`);
  }
}

function truthOfNotApplied(evidence: Evidence, broken: Broken): void {
  const { calls, effects, forgotten } = evidence;
  const of = byOp(effects);
  const mistimed = mistimedIn(evidence);
  for (const { op, by, at, outcome, endedAt = 0 } of calls) {
    if (outcome?.status !== "not_applied" || forgotten.get(op) || mistimed.has(op)) continue;
    const lie = of
      .get(op)
      ?.find(({ sent }) => !sent.late && (sent.at < at || (sent.by === by && sent.at <= endedAt)));
    if (!lie) continue;
    const said = `told not_applied (${outcome.reason}) at ${endedAt}`;
    broken("I5 not applied is true for ever", `${op}: ${said}, but ${show(lie.sent)}`);
  }
}

function conflicts({ calls, sends, forgotten }: Evidence, broken: Broken): void {
  for (const [op, those] of byOp(sends)) {
    const first = those[0];
    if (!first || forgotten.get(op)) continue;
    const other = those.find(({ resource }) => resource !== first.resource);
    if (other) {
      broken(
        "I8 another intent under the same key is a conflict",
        `${show(first)}, ${show(other)}`,
      );
    }
    for (const { spec, at, outcome, ...call } of calls) {
      if (call.op !== op || spec.what === first.resource || !outcome || at <= first.at) continue;
      if (outcome.status === "conflict" || isAborted(outcome)) continue;
      broken("I8 another intent under the same key is a conflict", `${op}: told ${outcome.status}`);
    }
  }
}

const isAborted = (outcome: NonNullable<Call["outcome"]>): boolean =>
  outcome.status === "in_progress" ||
  (outcome.status === "not_applied" && outcome.reason === "aborted");

function errors({ calls, sends, history }: Evidence, broken: Broken): void {
  for (const { op, by, at, error, endedAt = 0 } of calls) {
    if (error === undefined) continue;
    if (!isHoldfireError(error) || error.code !== "ERR_HOLDFIRE_STORE_UNAVAILABLE") {
      broken("I12 bounded", `${op}: threw ${String(error)}`);
    }
    const shared = calls.some(
      (other) =>
        other.op === op && other.by === by && other.at < at && (other.endedAt ?? endedAt) >= at,
    );
    // An attempt that was begun for an earlier caller, who has left, may still send.
    const sent = sends.find(
      (one) =>
        one.op === op &&
        one.by === by &&
        one.at <= endedAt &&
        !one.late &&
        (notedAt(one, history) ?? one.at) >= at,
    );
    if (sent && !shared) broken("I9 an error means that nothing was sent", `${op}: ${show(sent)}`);
  }
}

/** When the attempt that sent it was noted in the ledger. */
function notedAt(sent: Sent, history: Evidence["history"]): number | undefined {
  const has = (record: OperationRecord | undefined) =>
    record !== undefined &&
    opOfRecord(record) === sent.op &&
    record.attempts.some(({ n }) => n === sent.attempt);
  return history
    .slice(0, sent.ledgerAt)
    .findLast(({ by, before, after }) => by === sent.by && has(after) && !has(before))?.at;
}

/** The trips to the store that a call may make beyond its deadline, and a reader's or verifier's time. */
const SLACK = 8 * TIMES.store + 2 * TIMES.read;

function bounds({ calls }: Evidence, broken: Broken): void {
  for (const { op, at, endedAt, deadlineMs, frozenMs = 0, isOrphan } of calls) {
    if (endedAt === undefined) {
      if (!isOrphan()) broken("I12 bounded", `${op}: begun at ${at}, never ended`);
    } else if (endedAt - at - frozenMs > deadlineMs + SLACK) {
      broken("I12 bounded", `${op}: took ${endedAt - at} of ${deadlineMs}`);
    }
  }
}
