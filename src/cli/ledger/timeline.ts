/**
 * The life of an operation as lines in the order of time: asked, answered, fired, ended, settled.
 *
 * Pure. The ledger keeps the last attempts and what decided; a reading that decided nothing leaves no
 * trace in it.
 *
 * @module
 */

import type { OperationView } from "../../engine/admin/operations.ts";
import type { Answer, AttemptNote, Evidence, Licence } from "../../ledger/record.ts";
import { visible } from "../terminal.ts";

export interface Moment {
  readonly at: number;
  readonly what: string;
}

const LICENCES: Readonly<Record<Licence, string>> = {
  first: "first send",
  not_sent: "licence not_sent: the attempt before it was never sent",
  refused: "licence refused: the service answered that it did nothing",
  absent: "licence absent: a read found nothing, and the time to commit had passed",
  keyed: "licence keyed: the service recognises the key or the precondition",
  person: "licence person: a person allowed it",
};

export function timelineOf(operation: OperationView): readonly Moment[] {
  const { attempts, evidence, answers, createdAt } = operation;
  const moments = [
    { at: createdAt, what: "made" },
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
  return { at, what: `${said}${noted(note)}${counted ? "" : " (too late to count)"}` };
}

const noted = (note: string | undefined): string => (note ? `: "${visible(note)}"` : "");

function tried(attempt: AttemptNote): Moment[] {
  const { n, at, licence, generation, endedAt, endsBy, verdict } = attempt;
  const key = generation > 0 ? `, key generation ${generation}` : "";
  const fired = { at, what: `attempt ${n} fired (${LICENCES[licence]}${key})` };
  if (endedAt !== undefined) {
    const said = verdict ?? "unknown";
    return [fired, { at: endedAt, what: `attempt ${n} ended: ${said}${factsOf(attempt)}` }];
  }
  const facts = `${verdict ?? "its end is not known"}${factsOf(attempt)}`;
  if (endsBy === undefined) return [{ ...fired, what: `${fired.what}: ${facts}` }];
  return [fired, { at: endsBy, what: `attempt ${n} has ended by now at the latest: ${facts}` }];
}

function factsOf(attempt: AttemptNote): string {
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

/** In parentheses, what is there. */
function listed(facts: readonly (string | false | undefined)[]): string {
  const known = facts.filter((fact) => typeof fact === "string");
  return known.length > 0 ? ` (${known.join(", ")})` : "";
}

function filed({ at, attempt, verdict, effectId, status }: Omit<Evidence, "payload">): Moment {
  const facts = [
    status !== undefined && `status ${status}`,
    effectId !== undefined && `effect ${visible(effectId)}`,
  ];
  return { at, what: `evidence: late reply to attempt ${attempt}: ${verdict}${listed(facts)}` };
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
  return { at, what: `${status}${listed(facts)}${noted(note)}` };
}
