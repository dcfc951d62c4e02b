/**
 * `holdfire show KEY`: one operation, from its first line to its last.
 *
 * @module
 */

import type { OperationView } from "../../engine/admin/operations.ts";
import type { Approval } from "../../gate/approvals.ts";
import { type Command, defineCommand, EXIT, LEDGER } from "../command.ts";
import {
  jsonText,
  paint,
  paintStatus,
  showTime,
  type Terminal,
  tableLines,
  visible,
} from "../terminal.ts";
import { withLedger } from "./open-ledger.ts";
import { findOperation } from "./operations.ts";
import { questionLines } from "./question.ts";
import { timelineOf } from "./timeline.ts";

export const show: Command = defineCommand({
  name: "show",
  summary: "Shows the history of one operation: attempts, evidence, licences, answers.",
  takes: ["KEY"],
  about: [
    "KEY is the operation's id, the key that the service saw, or the id of the tool call that made it. An id is found directly; for the others the whole ledger is scanned.",
    "A reading is recorded where it decided something; one that could not tell is not. Arguments are kept only while an approval is waiting; results are not shown.",
    "Ends with 1 if there is no such operation.",
  ],
  options: LEDGER,
  run: ({ values, positionals }, terminal) =>
    withLedger(values, terminal, async (hf) => {
      const operation = await findOperation(hf, positionals[0] ?? "", terminal);
      const question = await hf.approvals.get(operation.id);
      const timeline = timelineOf(operation);
      if (values.json) terminal.out(jsonText({ operation, timeline, question }));
      else print(operation, question, terminal);
      return EXIT.ok;
    }),
});

function print(operation: OperationView, question: Approval | undefined, terminal: Terminal): void {
  const { out } = terminal;
  const facts = [
    ["tool", visible(operation.tool)],
    ["status", paintStatus(operation, terminal)],
    ["scope", visible(operation.scope)],
    ["key", operation.key],
    ["id", operation.id],
    ["resource", operation.resource && visible(operation.resource)],
    ["inside", operation.parent],
    ["tool calls", operation.aliases.map((alias) => visible(alias, 80)).join(", ")],
    ["fired", operation.fired === 1 ? "once" : `${operation.fired} times`],
  ].flatMap(([name, value]) => (name && value ? [[name, value]] : []));
  for (const line of tableLines([{ title: "" }, { title: "" }], facts).slice(1)) out(line);
  out("");
  for (const { at, what } of timelineOf(operation)) {
    out(`${paint(terminal, "gray", showTime(at))}  ${what}`);
  }
  if (question) {
    out("");
    for (const line of questionLines(question, terminal)) out(line);
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
    return `To answer: holdfire approve ${key} --by NAME --digest ${question.digest}\n       or: holdfire deny ${key} --by NAME --digest ${question.digest}`;
  }
  if (status === "unknown" || status === "claimed") {
    return `Once you know: holdfire resolve ${key} --committed --by NAME --as-of ${at}\n           or: holdfire resolve ${key} --not-applied --by NAME --as-of ${at}`;
  }
  return undefined;
}
