/**
 * The life of one operation in words, in the order of time: made, answered, fired, ended, settled.
 *
 * The ledger keeps the last attempts and what decided; a reading that decided nothing leaves no trace in it.
 *
 * @module
 */

import type { AttemptView, OperationView } from "../engine/admin/operations.ts";
import { visible } from "../key/escape-hidden.ts";
import { LOST_ATTEMPT } from "../ledger/moves/lost-data.ts";
import type { Answer, Evidence } from "../ledger/record.ts";
import type { Licence } from "../reasons.ts";

/** One line of a timeline. */
export interface Moment {
  readonly at: number;
  /** In words, hidden characters made visible. */
  readonly what: string;
  readonly kind: "made" | "answer" | "fired" | "ended" | "evidence" | "state";
  /** The attempt it belongs to. */
  readonly attempt?: number | undefined;
}

/** What allowed an attempt to be fired, in words. */
export const LICENCES: Readonly<Record<Licence, string>> = {
  first: "first send",
  not_sent: "licence not_sent: the attempt before it was never sent",
  refused: "licence refused: the service answered that it did nothing",
  absent: "licence absent: a read found nothing, and the time to commit had passed",
  keyed: "licence keyed: the service recognises the key or the precondition",
  person: "licence person: a person allowed it",
};

/** Pure: the life of an operation in the order of time. */
export function timelineOf(operation: OperationView): readonly Moment[] {
  const { attempts, evidence, answers, createdAt } = operation;
  const moments: Moment[] = [
    { at: createdAt, what: "made", kind: "made" },
    ...answers.map(answered),
    ...attempts.flatMap(tried),
    ...evidence.map(filed),
    settled(operation),
  ];
  // Stable: what happened at the same time stays in the order above.
  return moments.sort((one, other) => one.at - other.at);
}

function answered({ at, approve, by, note, counted }: Answer): Moment {
  const said = `${visible(by)} ${approve ? "approved" : "denied"}`;
  const late = counted ? "" : " (too late to count)";
  return { at, what: `${said}${noted(note)}${late}`, kind: "answer" };
}

const noted = (note: string | undefined): string => (note ? `: "${visible(note)}"` : "");

/** How the last attempt ended, in words. */
export function lastAttempt({ attempts }: OperationView): string | undefined {
  const last = attempts.at(-1);
  return last && tried(last).at(-1)?.what;
}

function tried(attempt: AttemptView): Moment[] {
  const { n, at, licence, generation, endedAt, endsBy, verdict } = attempt;
  const key = generation > 0 ? `, key generation ${generation}` : "";
  const of = { attempt: n } as const;
  const named = nameOf(n);
  const what = `${named} fired (${LICENCES[licence]}${key})`;
  const fired: Moment = { at, what, kind: "fired", ...of };
  if (endedAt !== undefined) {
    const said = verdict ?? "unknown";
    const ended = `${named} ended: ${said}${factsOf(attempt)}${failed(attempt)}`;
    return [fired, { at: endedAt, what: ended, kind: "ended", ...of }];
  }
  const facts = `${verdict ?? "its end is not known"}${factsOf(attempt)}`;
  if (endsBy === undefined) return [{ ...fired, what: `${fired.what}: ${facts}` }];
  const latest = `${named} has ended by now at the latest: ${facts}`;
  return [fired, { at: endsBy, what: latest, kind: "ended", ...of }];
}

function factsOf(attempt: AttemptView): string {
  const { status, wireRequests, declared, tookKey, replayed, unverified, accepted, cleared } =
    attempt;
  const facts = [
    status !== undefined && `status ${status}`,
    wireRequests !== undefined && `${wireRequests} ${wireRequests === 1 ? "request" : "requests"}`,
    declared?.keyed && tookKey === false && "the key was not used",
    replayed && "the service returned a stored answer",
    accepted && "accepted, not done yet",
    unverified && "verify returned false",
    cleared === "absent" && "cleared by a read (absent)",
    cleared === "person" && "cleared by a person (person)",
  ];
  return listed(facts);
}

/** What was thrown, and what the service said: in the ledger both are one line, with what looks like a secret hidden. */
function failed({ failure = {} }: AttemptView): string {
  const { type, code, line, said, byTool } = failure;
  const thrown = byTool ? "notApplied" : type;
  const text = [thrown, line].filter((part) => part !== undefined).join(": ");
  const coded = code === undefined || text.includes(code) ? text : `${text} (code ${code})`;
  const words = said === undefined ? "" : `; the service said "${said}"`;
  return `${coded ? `: ${visible(coded)}` : ""}${visible(words)}`;
}

const nameOf = (attempt: number): string =>
  attempt === LOST_ATTEMPT ? "an attempt whose record was lost" : `attempt ${attempt}`;

/** In parentheses, what is there. */
function listed(facts: readonly (string | false | undefined)[]): string {
  const known = facts.filter((fact) => typeof fact === "string");
  return known.length > 0 ? ` (${known.join(", ")})` : "";
}

function filed({
  at,
  attempt,
  verdict,
  found,
  effectId,
  status,
}: Omit<Evidence, "payload">): Moment {
  const facts = [
    status !== undefined && `status ${status}`,
    effectId !== undefined && `effect ${visible(effectId)}`,
  ];
  const source = found ? "a read found it" : `late reply to ${nameOf(attempt)}: ${verdict}`;
  const what = `evidence: ${source}${listed(facts)}`;
  return { at, what, kind: "evidence", attempt };
}

const VIA = {
  reply: "by the service's reply",
  read: "found by a read",
  late: "by a late reply",
  person: "by a person's answer",
} as const;

function settled(operation: OperationView): Moment {
  const { at, status, reason, via, effect, effectId, by, note, rejection, leaseUntil } = operation;
  const facts = [
    reason,
    via && VIA[via],
    effect,
    effectId !== undefined && `effect ${visible(effectId)}`,
    rejection?.status !== undefined && `status ${rejection.status}`,
    rejection?.code !== undefined && `code ${visible(rejection.code)}`,
    by !== undefined && `by ${visible(by)}`,
    status === "claimed" && leaseUntil !== undefined && "a process owns it",
  ];
  return { at, what: `${status}${listed(facts)}${noted(note)}`, kind: "state" };
}
