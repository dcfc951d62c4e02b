/**
 * `holdfire show KEY`: one operation, from its first line to its last.
 *
 * @module
 */

import type { OperationView } from "../engine/admin/operations.ts";
import type { Approval } from "../gate/approvals.ts";
import { type Command, defineCommand, LEDGER } from "./command.ts";
import { EXIT } from "./exit.ts";
import { findOperation } from "./find-operation.ts";
import { questionLines } from "./inbox/question.ts";
import { withLedger } from "./open-holdfire.ts";
import { jsonText, visible } from "./printable.ts";
import { paintStatus } from "./status-words.ts";
import { tableLines } from "./table.ts";
import { paint, type Terminal } from "./terminal.ts";
import { showTime } from "./time.ts";
import { timelineOf } from "./timeline.ts";

export const show: Command = defineCommand({
  name: "show",
  summary: "Tells the life of one operation: attempts, evidence, licences, answers.",
  takes: ["KEY"],
  about: [
    "KEY is the operation's id, the key that the service saw, or the id of the tool call that made it. An id is found at once; for the others the ledger is looked through.",
    "Readings are in the ledger where they decided something; one that could not tell leaves no trace. Arguments are kept only while a question about them waits, results never shown.",
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
