/**
 * `holdfire approve KEY`, `deny KEY` and `resolve KEY`: what a person decides about one operation.
 *
 * An approval or denial is bound to the question that was shown. A script gives the digest of the question that it
 * showed to a person. Without it the question is shown here, and only a person at the terminal can answer.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { canBeShown, intentText, othersUnknown } from "../../describe/decision-facts.ts";
import { lastAttempt } from "../../describe/timeline.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import { isHoldfireError } from "../../errors.ts";
import { checkPerson } from "../../key/check-name.ts";
import { type Command, defineCommand, EXIT, FailedError, LEDGER, UsageError } from "../command.ts";
import { withLedger } from "../ledger/open-ledger.ts";
import { findOperation } from "../ledger/operations.ts";
import { othersLines, questionLines } from "../ledger/question.ts";
import { wholeNumberOf } from "../parse.ts";
import { jsonText, onStderr, paintStatus, type Terminal, visible } from "../terminal.ts";
import { personAt } from "./ask-person.ts";

const answering = (approve: boolean): Command =>
  defineCommand({
    name: approve ? "approve" : "deny",
    summary: approve ? "Approves one question." : "Denies one question. That is final.",
    takes: ["KEY"],
    about: [
      "KEY is the operation's id, its key, at least six characters that one of them begins with, or the id of the tool call. --digest names the question that is answered: inbox and show print it. If the question has changed since, nothing is changed.",
      "Without --digest the question is shown and you are asked at the terminal; without a terminal, nothing is changed.",
      approve
        ? "An approval fires nothing by itself: the call has to be made again, and its plan is made again before it is applied."
        : "A denial counts as long as nothing was sent, also after another person has approved.",
      "Ends with 1 if the answer was not accepted.",
    ],
    options: {
      ...LEDGER,
      by: { type: "string", value: "NAME", about: "Who answers. Needed." },
      note: { type: "string", value: "TEXT", about: "Why." },
      digest: { type: "string", value: "TEXT", about: "The question that was shown." },
    },
    run: ({ values, positionals }, terminal) => {
      const { note } = values;
      const by = personNamed(values.by);
      return withLedger(values, terminal, async (hf) => {
        const { id } = await findOperation(hf, positionals[0] ?? "", terminal);
        const digest = values.digest ?? (await shownDigest(hf, id, approve, terminal));
        await giveAnswer(hf, id, approve, { digest, by, note });
        const operation = await hf.operations.get(id);
        if (values.json) terminal.out(jsonText({ answer: approve ? "yes" : "no", by, operation }));
        else terminal.out(approve ? `${by} approved it. Make the call again.` : `${by} denied it.`);
        return EXIT.ok;
      });
    },
  });

export const approve: Command = answering(true);
export const deny: Command = answering(false);

/** Who answers: the value of `--by`. */
function personNamed(by: string | undefined): string {
  if (by === undefined)
    throw new UsageError(
      "--by is missing: the answer is recorded with a name.",
      "Add --by and your name.",
    );
  return checkPerson(by);
}

/** Shows the question as it stands and asks; the answer then counts for that one. */
async function shownDigest(
  hf: Holdfire,
  id: string,
  approve: boolean,
  terminal: Terminal,
): Promise<string> {
  const question = await hf.approvals.get(id);
  if (!question) {
    const hint = `What became of it: npx holdfire show ${id}`;
    throw new FailedError("This operation is not waiting for approval.", { hint });
  }
  const others = await othersUnknown(hf, question.operation);
  for (const line of questionLines(question, onStderr(terminal), others)) terminal.err(line);
  if (!terminal.isInteractive) {
    throw new UsageError(
      "--digest is missing: it names the question that is answered.",
      `If it is the one above: --digest=${question.digest}`,
    );
  }
  if (approve && (!canBeShown(question) || question.answered)) {
    throw new FailedError("The question cannot be shown here, so it cannot be approved here.", {
      hint: "Answer it where your program can decrypt it: hf.approvals.approve(id, { digest, by })",
    });
  }
  const person = personAt(terminal);
  try {
    const typed = await person.ask(approve ? "Approve? y or n: " : "Deny? That is final. y or n: ");
    if (typed?.toLowerCase() !== "y") throw new FailedError("Nothing was changed.");
    return question.digest;
  } finally {
    person.leave();
  }
}

interface GivenAnswer {
  readonly digest: string;
  readonly by: string;
  readonly note: string | undefined;
}

export async function giveAnswer(
  hf: Holdfire,
  id: string,
  approve: boolean,
  answer: GivenAnswer,
): Promise<void> {
  const { approvals } = hf;
  await (approve ? approvals.approve(id, answer) : approvals.deny(id, answer)).catch(refuse);
}

/** What the ledger refuses is a failure, not wrong usage: the command was called correctly. */
function refuse(error: unknown): never {
  if (!isHoldfireError(error) || error.code !== "ERR_HOLDFIRE_INVALID_INPUT") throw error;
  throw new FailedError(error.message, { hint: "npx holdfire show KEY prints it as it is now." });
}

/** A person settles what no reader can. */
export const resolve: Command = defineCommand({
  name: "resolve",
  summary: "Settles an unknown operation by a person's answer.",
  takes: ["KEY"],
  about: [
    "For operations that no reader can settle: you checked the service, and say what happened. --committed: it happened, and is never fired again. --not-applied: it did not happen; the same call may fire again, with the same key (licence person).",
    "Ends with 1 and changes nothing if the operation is settled already, if another process owns it, if it is waiting for approval, or if it has changed since --as-of, which holdfire show prints. --not-applied is also refused while an attempt may still send, unless --anyway is given.",
  ],
  options: {
    ...LEDGER,
    committed: { type: "boolean", about: "It happened." },
    "not-applied": { type: "boolean", about: "It certainly did not happen." },
    anyway: {
      type: "boolean",
      about: "Although an attempt may still send: you know that it does not.",
    },
    by: { type: "string", value: "NAME", about: "Who answers. Needed." },
    note: { type: "string", value: "TEXT", about: "How you know." },
    "as-of": {
      type: "string",
      value: "N",
      about: "As holdfire show printed it: refused if the operation has changed since.",
    },
  },
  run: ({ values, positionals }, terminal) => {
    const { note, committed, anyway, "not-applied": notApplied } = values;
    if (committed === notApplied) {
      throw new UsageError(
        "Give either --committed or --not-applied.",
        "--committed: you have seen that it happened. --not-applied: you have seen that it did not.",
      );
    }
    const by = personNamed(values.by);
    const seen = wholeNumberOf("as-of", values["as-of"]);
    return withLedger(values, terminal, async (hf) => {
      const operation = await findOperation(hf, positionals[0] ?? "", terminal);
      const { id, at } = operation;
      const alsoUnknown = await othersUnknown(hf, operation);
      if (!values.json) for (const line of aboutLines(operation)) terminal.err(line);
      const as = committed ? "committed" : "not_applied";
      const settled = await hf.operations
        .resolve(id, { as, by, note, anyway, asOf: seen ?? at })
        .catch(refuse);
      if (values.json) {
        terminal.out(jsonText({ ...settled, intent: operation.intent, alsoUnknown }));
        return EXIT.ok;
      }
      terminal.out(`${settled.key}: ${paintStatus(settled, terminal)}, by ${by}`);
      for (const line of othersLines(alsoUnknown, terminal)) terminal.out(line);
      return EXIT.ok;
    });
  },
});

/** What is about to be settled, so that a wrong key is noticed. */
function aboutLines(operation: OperationView): readonly string[] {
  const intent = intentText(operation);
  const last = lastAttempt(operation);
  return [
    `${visible(operation.tool)} in ${visible(operation.scope)}`,
    ...(intent === undefined ? [] : [`intent ${intent}`]),
    ...(last === undefined ? [] : [last]),
  ];
}
