/**
 * The independent checker. It knows nothing of the engine: it compares the service's own logs, the
 * history of the ledger and what callers were told, and names the invariant that was broken.
 */

import { isHoldfireError } from "../../src/errors.ts";
import type { OperationRecord } from "../../src/ledger/record.ts";
import { checkHistory } from "./check-history.ts";
import type { Sent } from "./world/network.ts";
import type { Effect } from "./world/service.ts";
import { TIMES, type ToolClass, traitsOf } from "./world/settings.ts";
import type { Written } from "./world/store.ts";
import { attemptsOf } from "./world/tools.ts";
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
}

export type Invariant =
  | "I1 at most one effect"
  | "I1 at most one send that could have arrived"
  | "I1 after a yes only a person fires again"
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
  | "I12 bounded"
  | "I14 liveness"
  | "I15 deliberate repetitions happen";

export interface Violation {
  readonly invariant: Invariant;
  readonly detail: string;
}

/** The name by which the world knows an operation. */
export const opOfRecord = (record: OperationRecord): string => record.aliases[0] ?? record.id;

export function check(evidence: Evidence): readonly Violation[] {
  const found: Violation[] = [];
  const broken = (invariant: Invariant, detail: string) => void found.push({ invariant, detail });
  for (const rule of [
    oneEffect,
    oneSend,
    afterAYes,
    nothingLost,
    oneKey,
    truthOfCommitted,
    truthOfNotApplied,
    conflicts,
    errors,
    budgets,
    bounds,
  ]) {
    rule(evidence, broken);
  }
  checkHistory(evidence, broken);
  return found;
}

export type Broken = (invariant: Invariant, detail: string) => void;

/**
 * A tool that declares a key and does not send it is found out only by the process that saw it run.
 * A successor takes its word, so it is judged by the life of a process.
 */
const isUnearned = (tool: ToolClass): boolean => {
  const { keyed, honours } = traitsOf(tool);
  return keyed === true && !honours;
};

function oneEffect({ effects, forgotten }: Evidence, broken: Broken): void {
  for (const [op, those] of byOp(effects)) {
    if (those[0] && isUnearned(those[0].sent.tool)) continue;
    const allowed = 1 + (forgotten.get(op) ?? 0);
    if (those.length > allowed) {
      broken("I1 at most one effect", `${op}: ${those.map(({ sent }) => show(sent)).join(", ")}`);
    }
  }
}

/** The service can neither recognise a repetition nor be asked: one send, and no more. */
const isBlindFire = (tool: ToolClass): boolean => {
  const { honours, conditional, readable } = traitsOf(tool);
  return !honours && !conditional && !readable;
};

function oneSend({ sends, forgotten, resolved }: Evidence, broken: Broken): void {
  for (const [op, those] of byOp(sends)) {
    const last = those.at(-1);
    const risky = those.filter(
      ({ tool, heard, answer, by }) =>
        isBlindFire(tool) &&
        !(heard && (answer === "refused" || answer === "no")) &&
        (!isUnearned(tool) || by === last?.by),
    );
    const allowed = 1 + (forgotten.get(op) ?? 0) + (resolved.get(op) ?? 0);
    if (risky.length > allowed) {
      broken("I1 at most one send that could have arrived", `${op}: ${risky.map(show).join(", ")}`);
    }
  }
}

/** Once the ledger has heard that a liar's attempt has ended, it has heard its yes. */
function afterAYes({ sends, history, resolved, forgotten }: Evidence, broken: Broken): void {
  for (const [op, those] of byOp(sends)) {
    if ((resolved.get(op) ?? 0) + (forgotten.get(op) ?? 0) > 0) continue;
    const yes = those.find(
      ({ tool, heard, answer }) => traitsOf(tool).lies && heard && answer === "yes",
    );
    const told = history.findIndex(
      ({ after, by }) =>
        after !== undefined &&
        opOfRecord(after) === op &&
        by === yes?.by &&
        after.attempts.some(({ n, endedAt }) => n === yes.attempt && endedAt !== undefined),
    );
    const later = told >= 0 && those.find(({ ledgerAt }) => ledgerAt > told);
    if (yes && later) {
      broken("I1 after a yes only a person fires again", `${op}: ${show(yes)}, ${show(later)}`);
    }
  }
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

function oneKey({ sends }: Evidence, broken: Broken): void {
  const owners = new Map<string, string>();
  for (const [op, those] of byOp(sends)) {
    const keys = new Set(those.flatMap(({ key }) => key ?? []));
    // Only a service that has rejected a key makes another one necessary.
    const rejections = those.filter(({ answer }) => answer === "no").length;
    if (keys.size > 1 + rejections) broken("I4 one key per intent", `${op}: ${[...keys]}`);
    for (const key of keys) {
      const owner = owners.get(key) ?? op;
      if (owner !== op) broken("I4 one key per intent", `${key}: ${owner} and ${op}`);
      owners.set(key, owner);
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
      broken("I5 committed is true", `${op}: got ${result}, which is not its own`);
    }
  }
  for (const record of dump) {
    const op = opOfRecord(record);
    if (record.state.tag !== "committed" || record.tool === "X" || of.has(op)) continue;
    broken("I5 committed is true", `${op}: the ledger says committed, no effect`);
  }
}

function truthOfNotApplied({ calls, effects, forgotten }: Evidence, broken: Broken): void {
  const of = byOp(effects);
  for (const { op, by, at, outcome, endedAt = 0 } of calls) {
    if (outcome?.status !== "not_applied" || forgotten.get(op)) continue;
    const lie = of
      .get(op)
      ?.find(({ sent }) => sent.at < at || (sent.by === by && sent.at <= endedAt));
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

function errors({ calls, sends }: Evidence, broken: Broken): void {
  for (const { op, by, at, error, endedAt = 0 } of calls) {
    if (error === undefined) continue;
    if (!isHoldfireError(error) || error.code !== "ERR_HOLDFIRE_STORE_UNAVAILABLE") {
      broken("I12 bounded", `${op}: threw ${String(error)}`);
    }
    const shared = calls.some(
      (other) =>
        other.op === op && other.by === by && other.at < at && (other.endedAt ?? endedAt) >= at,
    );
    const sent = sends.find(
      (one) => one.op === op && one.by === by && one.at >= at && one.at <= endedAt,
    );
    if (sent && !shared) broken("I9 an error means that nothing was sent", `${op}: ${show(sent)}`);
  }
}

function budgets({ sends, calls }: Evidence, broken: Broken): void {
  for (const [op, those] of byOp(sends)) {
    const tool = those[0]?.tool ?? "K";
    const own = calls.filter((call) => call.op === op).length;
    const outer = calls.filter((call) => op.startsWith(`${call.op}/`)).length * attemptsOf("X");
    const allowed = (own + outer) * attemptsOf(tool);
    if (those.length > allowed) {
      broken("I10 no more requests than attempts", `${op}: ${those.length} > ${allowed}`);
    }
  }
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
