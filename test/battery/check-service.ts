/** The part of the checker that reads the service's own logs: what was sent, and what it led to. */

import type { OperationRecord } from "../../src/ledger/record.ts";
import { type Broken, byOp, type Evidence, mistimedIn, opOfRecord, show } from "./checker.ts";
import type { Sent } from "./world/network.ts";
import { type ToolClass, traitsOf } from "./world/settings.ts";
import { attemptsOf } from "./world/tools.ts";

export function checkService(evidence: Evidence, broken: Broken): void {
  for (const rule of [
    oneEffect,
    oneSend,
    afterAYes,
    nothingLate,
    onlySeen,
    foundAgain,
    oneKey,
    budgets,
  ])
    rule(evidence, broken);
}

/**
 * A tool that declares a key and does not send it is found out only by the process that saw it run.
 * A successor takes its word, so it is judged by the life of a process.
 */
const isUnearned = (tool: ToolClass): boolean => {
  const { keyed, honours } = traitsOf(tool);
  return keyed === true && !honours;
};

/** What leaves after the end, by a client of the tool's own, can be told and not always stopped. */
const leftLate = (those: readonly Sent[]): number => those.filter(({ late }) => late).length;

function oneEffect(evidence: Evidence, broken: Broken): void {
  const { effects, forgotten } = evidence;
  const mistimed = mistimedIn(evidence);
  for (const [op, those] of byOp(effects)) {
    if (mistimed.has(op) || (those[0] && isUnearned(those[0].sent.tool))) continue;
    const allowed = 1 + (forgotten.get(op) ?? 0) + leftLate(those.map(({ sent }) => sent));
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
    const allowed = 1 + (forgotten.get(op) ?? 0) + (resolved.get(op) ?? 0) + leftLate(those);
    if (risky.length > allowed) {
      broken("I1 at most one send that could have arrived", `${op}: ${risky.map(show).join(", ")}`);
    }
  }
}

const isOf = (op: string, record: OperationRecord | undefined): boolean =>
  record !== undefined && opOfRecord(record) === op;

/** Once the ledger has heard that a liar's attempt has ended, it has heard its yes. */
function afterAYes({ sends, history, resolved, forgotten }: Evidence, broken: Broken): void {
  for (const [op, those] of byOp(sends)) {
    if ((resolved.get(op) ?? 0) + (forgotten.get(op) ?? 0) > 0) continue;
    const yes = those.find(
      ({ tool, heard, answer }) => traitsOf(tool).lies && heard && answer === "yes",
    );
    // What a power cut took back nobody was told.
    const from = history.findLastIndex(({ after, by }) => by === "power" && isOf(op, after));
    const told = history.findIndex(
      ({ after, by }, index) =>
        index > from &&
        after !== undefined &&
        isOf(op, after) &&
        by === yes?.by &&
        after.attempts.some(({ n, endedAt }) => n === yes.attempt && endedAt !== undefined),
    );
    const later = told >= 0 && those.find(({ ledgerAt }) => ledgerAt > told);
    if (yes && later) {
      broken("I1 after a yes only a person fires again", `${op}: ${show(yes)}, ${show(later)}`);
    }
  }
}

/** The attempt's own `fetch` sends nothing after its end. */
function nothingLate({ sends }: Evidence, broken: Broken): void {
  for (const sent of sends) {
    if (sent.late && traitsOf(sent.tool).wire === "own") {
      broken("I11 nothing is sent after the end", show(sent));
    }
  }
}

/** What is only seen not to have been sent is not fired again by itself. */
function onlySeen({ history, calls }: Evidence, broken: Broken): void {
  const asked = new Set(calls.filter(({ spec }) => spec.retry).map(({ op }) => op));
  for (const { after } of history) {
    const last = after?.attempts.at(-1);
    if (!after || last?.licence !== "not_sent" || asked.has(opOfRecord(after))) continue;
    // What was never fired was certainly not sent.
    if (after.attempts.length < 2) continue;
    if (traitsOf(after.tool as ToolClass)?.wire === "ambient") {
      broken("I1 only seen is not proved", `${opOfRecord(after)}: attempt ${last.n}`);
    }
  }
}

/** Where the record is gone, what the service has is found by a read and not made again. */
function foundAgain({ sends, effects, history }: Evidence, broken: Broken): void {
  for (const { at: evictedAt, before, by } of history) {
    if (by !== "eviction" || !before) continue;
    const op = opOfRecord(before);
    const { honours, blind, lies } = traitsOf(before.tool as ToolClass);
    if (honours || blind || lies) continue;
    const known = effects.find((effect) => effect.op === op && effect.visibleAt <= evictedAt);
    const again = sends.find((sent) => sent.op === op && beganAt(sent, history) > evictedAt);
    if (known && again && !again.late) {
      broken("I13 what is there is not made again", `${known.id} is there, and ${show(again)}`);
    }
  }
}

/** When the record under which it was sent was made. */
const beganAt = (sent: Sent, history: Evidence["history"]): number =>
  history.slice(0, sent.ledgerAt).findLast(({ before, after }) => !before && isOf(sent.op, after))
    ?.at ?? 0;

function oneKey({ sends, forgotten }: Evidence, broken: Broken): void {
  const owners = new Map<string, string>();
  for (const [op, those] of byOp(sends)) {
    // A name that a caller gave, of which nothing is remembered, is free for another intent.
    if ([...forgotten.keys()].some((gone) => op.startsWith(gone))) continue;
    const keys = new Set(those.flatMap(({ key }) => key ?? []));
    // Only a service that has rejected a key makes another one necessary.
    const rejections = those.filter(({ answer }) => answer === "no").length;
    // One that is left behind has had its no from elsewhere.
    if (keys.size > 1 + rejections + leftLate(those))
      broken("I4 one key per intent", `${op}: ${[...keys]}`);
    for (const key of keys) {
      const owner = owners.get(key) ?? op;
      if (owner !== op) broken("I4 one key per intent", `${key}: ${owner} and ${op}`);
      owners.set(key, owner);
    }
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
