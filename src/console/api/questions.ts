/**
 * What waits for a person, as the page shows it: a question, or an operation whose outcome is unknown.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { canBeShown, changesOf, intentText, WHY_ASKED } from "../../describe/decision-facts.ts";
import { CONSEQUENCES, sentenceFor } from "../../describe/sentence.ts";
import { lastAttempt } from "../../describe/timeline.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import { engineOf } from "../../engine/engine-of.ts";
import type { Approval } from "../../gate/approvals.ts";
import { diffOf } from "../../gate/diff.ts";
import { jsonText, visible } from "../../key/escape-hidden.ts";
import type { Json } from "../../key/json.ts";
import { isJsonObject, type JsonObject } from "../../key/json.ts";
import { runsAt } from "../../ledger/record.ts";
import type { CutText, Inbox, Question, UnknownItem } from "../model.ts";
import { alsoUnknownTo, rowOf } from "./rows.ts";

/** More than a person answers at a sitting; the rest follows as these are answered. */
const MOST = 50;

/** The oldest first. */
export async function inboxOf(hf: Holdfire): Promise<Inbox> {
  const asked = await hf.approvals.list({ limit: MOST });
  const unknown = await hf.operations.list({ status: ["unknown"], limit: MOST });
  const waiting = asked.items.filter(({ answered }) => !answered);
  const questions = await Promise.all(waiting.map((approval) => questionOf(hf, approval)));
  // Read one by one: a list has no intents.
  const found = await Promise.all(unknown.items.map(({ id }) => hf.operations.get(id)));
  const unsettled = found.flatMap((one) => (one?.status === "unknown" ? [one] : []));
  const unknowns = await Promise.all(unsettled.map((operation) => unknownOf(hf, operation)));
  const more = asked.cursor !== undefined || unknown.cursor !== undefined;
  return { questions, unknowns, more, consequences: CONSEQUENCES };
}

/** More than a person reads; they are told how much is left out. */
const LONGEST_TEXT = 20_000;
const MOST_EFFECTS = 50;

export async function questionOf(hf: Holdfire, approval: Approval): Promise<Question> {
  const { operation, why, digest, askedAt, expiresAt, answered } = approval;
  const isObject = isJsonObject(approval.shown ?? null);
  const shown = isObject ? (approval.shown as JsonObject) : {};
  const changes = changesOf(shown.plan);
  const effects = Array.isArray(shown.alsoDoes) ? shown.alsoDoes : [];
  return {
    operation: rowOf(operation),
    why: WHY_ASKED[why],
    ...{ digest, askedAt, expiresAt, answered },
    canBeShown: canBeShown(approval),
    args: cutText(shown.args ?? null),
    alsoDoes: effects.slice(0, MOST_EFFECTS).map((one) => visible(String(one))),
    definition: shown.definition === undefined ? undefined : cutText(shown.definition),
    drift: shown.drift === undefined ? undefined : cutText(shown.drift),
    plan: changes && diffOf(changes),
    alsoUnknown: await alsoUnknownTo(hf, operation),
  };
}

function cutText(value: Json): CutText {
  const text = jsonText(value);
  const leftOut = Math.max(0, text.length - LONGEST_TEXT);
  return { text: leftOut > 0 ? text.slice(0, LONGEST_TEXT) : text, leftOut };
}

export async function unknownOf(hf: Holdfire, operation: OperationView): Promise<UnknownItem> {
  const { ledger, tenantState } = engineOf(hf);
  const now = ledger.clock.latest();
  const ends = operation.attempts
    .filter((attempt) => runsAt(attempt, now))
    .map(({ endedAt, endsBy = now }) => endedAt ?? endsBy);
  return {
    operation: rowOf(operation),
    sentence: sentenceFor(operation),
    intent: intentText(operation),
    last: lastAttempt(operation),
    evidence: operation.evidence.length,
    asOf: operation.at,
    mayStillSendUntil: ends.length > 0 ? Math.max(...ends) : undefined,
    canLook: tenantState.tools.get(operation.tool)?.readState !== undefined,
    alsoUnknown: await alsoUnknownTo(hf, operation),
  };
}
