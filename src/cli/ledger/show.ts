/**
 * `holdfire show KEY`: one operation, from its first line to its last: made, answered, fired, ended, settled.
 *
 * The ledger keeps the last attempts and what decided; a reading that decided nothing leaves no trace in it.
 *
 * @module
 */

import { intentText, othersUnknown } from "../../describe/decision-facts.ts";
import { timelineOf } from "../../describe/timeline.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import type { Approval } from "../../gate/approvals.ts";
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
import { withLedger } from "./open-ledger.ts";
import { findOperation } from "./operations.ts";
import { othersLines, questionLines } from "./question.ts";

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
    return `To answer: npx holdfire approve ${key} --by NAME --digest=${question.digest}\n       or: npx holdfire deny ${key} --by NAME --digest=${question.digest}`;
  }
  if (status === "unknown" || status === "claimed") {
    // What its owner holds is not a person's to settle; the lease of a dead one ends within seconds.
    const first = status === "claimed" ? "If its process has died, and once" : "Once";
    return `${first} you know: npx holdfire resolve ${key} --committed --by NAME --as-of ${at}\n${" ".repeat(first.length + 7)}or: npx holdfire resolve ${key} --not-applied --by NAME --as-of ${at}`;
  }
  return undefined;
}
