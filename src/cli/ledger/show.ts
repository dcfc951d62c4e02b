/**
 * `holdfire show KEY`: one operation, from its first line to its last: made, answered, fired, ended, settled.
 *
 * The ledger keeps the last attempts and what decided; a reading that decided nothing leaves no trace in it.
 *
 * @module
 */

import type { AttemptView, OperationView } from "../../engine/admin/operations.ts";
import type { Approval } from "../../gate/approvals.ts";
import type { Answer, Evidence, Licence } from "../../ledger/record.ts";
import { type Command, defineCommand, EXIT, LEDGER } from "../command.ts";
import {
  columnLines,
  jsonText,
  paint,
  paintStatus,
  showTime,
  type Terminal,
  visible,
} from "../terminal.ts";
import { intentText, othersLines, othersUnknown } from "./decision-facts.ts";
import { withLedger } from "./open-ledger.ts";
import { findOperation } from "./operations.ts";
import { questionLines } from "./question.ts";

export const show: Command = defineCommand({
  name: "show",
  summary: "Shows the history of one operation: attempts, evidence, licences, answers.",
  takes: ["KEY"],
  about: [
    "KEY is the operation's id, the key that the service saw, at least six characters that one of them begins with, or the id of the tool call that made it. An id is found directly; for the others the whole ledger is scanned.",
    "A reading is recorded where it decided something; one that could not tell is not. The intent is kept until the operation is settled, all arguments only while an approval is waiting; results are not shown.",
    "Ends with 1 if there is no such operation.",
  ],
  options: LEDGER,
  run: ({ values, positionals }, terminal) =>
    withLedger(values, terminal, async (hf) => {
      const operation = await findOperation(hf, positionals[0] ?? "", terminal);
      const question = await hf.approvals.get(operation.id);
      const alsoUnknown = await othersUnknown(hf, operation);
      if (values.json) {
        const timeline = timelineOf(operation);
        terminal.out(jsonText({ operation, timeline, question, alsoUnknown }));
      } else print({ operation, question, alsoUnknown }, terminal);
      return EXIT.ok;
    }),
});

interface Shown {
  readonly operation: OperationView;
  readonly question: Approval | undefined;
  readonly alsoUnknown: readonly OperationView[];
}

function print({ operation, question, alsoUnknown }: Shown, terminal: Terminal): void {
  const { out } = terminal;
  const facts = [
    ["tool", visible(operation.tool)],
    ["intent", intentText(operation)],
    ["status", paintStatus(operation, terminal)],
    ["scope", visible(operation.scope)],
    ["key", operation.key],
    ["id", operation.id],
    ["resource", operation.resource && visible(operation.resource)],
    ["inside", operation.parent],
    ["tool calls", operation.aliases.map((alias) => visible(alias, 80)).join(", ")],
    ["fired", operation.fired === 1 ? "once" : `${operation.fired} times`],
  ].flatMap(([name, value]) => (name && value ? [[name, value]] : []));
  for (const line of columnLines(facts)) out(line);
  out("");
  for (const { at, what } of timelineOf(operation)) {
    out(`${paint(terminal, "gray", showTime(at))}  ${what}`);
  }
  if (question) {
    out("");
    for (const line of questionLines(question, terminal)) out(line);
  }
  if (alsoUnknown.length > 0) {
    out("");
    for (const line of othersLines(alsoUnknown, terminal)) out(line);
  }
  const next = nextStep(operation, question);
  if (next) {
    out("");
    out(next);
  }
}

/** What a person can do now. */
function nextStep({ status, key, at }: OperationView, question: Approval | undefined) {
  if (question && !question.answered) {
    return `To answer: holdfire approve ${key} --by NAME --digest=${question.digest}\n       or: holdfire deny ${key} --by NAME --digest=${question.digest}`;
  }
  if (status === "unknown" || status === "claimed") {
    return `Once you know: holdfire resolve ${key} --committed --by NAME --as-of ${at}\n           or: holdfire resolve ${key} --not-applied --by NAME --as-of ${at}`;
  }
  return undefined;
}

interface Moment {
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

/** Pure: the life of an operation in the order of time. */
function timelineOf(operation: OperationView): readonly Moment[] {
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

/** How the last attempt ended, in words. */
export function lastAttempt({ attempts }: OperationView): string | undefined {
  const last = attempts.at(-1);
  return last && tried(last).at(-1)?.what;
}

function tried(attempt: AttemptView): Moment[] {
  const { n, at, licence, generation, endedAt, endsBy, verdict } = attempt;
  const key = generation > 0 ? `, key generation ${generation}` : "";
  const fired = { at, what: `attempt ${n} fired (${LICENCES[licence]}${key})` };
  if (endedAt !== undefined) {
    const said = verdict ?? "unknown";
    const ended = `attempt ${n} ended: ${said}${factsOf(attempt)}${failed(attempt)}`;
    return [fired, { at: endedAt, what: ended }];
  }
  const facts = `${verdict ?? "its end is not known"}${factsOf(attempt)}`;
  if (endsBy === undefined) return [{ ...fired, what: `${fired.what}: ${facts}` }];
  return [fired, { at: endsBy, what: `attempt ${n} has ended by now at the latest: ${facts}` }];
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
