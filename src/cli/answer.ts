/**
 * `holdfire approve KEY` and `holdfire deny KEY`: one answer, bound to the question that was shown.
 *
 * A script gives the digest of the question it showed to somebody. Without it the question is shown here,
 * and only a person at the terminal can answer.
 *
 * @module
 */

import { isHoldfireError } from "../errors.ts";
import type { Approval } from "../gate/approvals.ts";
import type { Holdfire } from "../holdfire.ts";
import { checkPerson } from "../key/check-name.ts";
import { type Command, defineCommand, LEDGER } from "./command.ts";
import { EXIT, FailedError, UsageError } from "./exit.ts";
import { findOperation } from "./find-operation.ts";
import { personAt } from "./inbox/ask-person.ts";
import { canBeShown, questionLines } from "./inbox/question.ts";
import { withLedger } from "./open-holdfire.ts";
import { jsonText } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

const answering = (approve: boolean): Command =>
  defineCommand({
    name: approve ? "approve" : "deny",
    summary: approve ? "Says yes to one question." : "Says no to one question. That is final.",
    takes: ["KEY"],
    about: [
      "KEY is the operation's id, its key, or the id of the tool call. --digest says which question is answered: inbox and show print it beside what is asked. If the question is another by now, nothing is changed.",
      "Without --digest the question is shown and you are asked at the terminal; where nobody can type, nothing is changed.",
      approve
        ? "A yes fires nothing by itself: the call has to be made again, and its plan is made again before it is applied."
        : "A no counts as long as nothing was sent, also after somebody's yes.",
      "Ends with 1 if the answer was not taken.",
    ],
    options: {
      ...LEDGER,
      by: { type: "string", value: "NAME", about: "Who says so. Needed." },
      note: { type: "string", value: "TEXT", about: "Why." },
      digest: { type: "string", value: "TEXT", about: "The question that was shown." },
    },
    run: ({ values, positionals }, terminal) => {
      const { by, note } = values;
      if (by === undefined) throw new UsageError("--by is missing: an answer has a name.");
      checkPerson(by);
      return withLedger(values, terminal, async (hf) => {
        const { id } = await findOperation(hf, positionals[0] ?? "", terminal);
        const digest = values.digest ?? (await shownDigest(hf, id, approve, terminal));
        await give(hf, id, approve, { digest, by, note });
        const operation = await hf.operations.get(id);
        if (values.json) terminal.out(jsonText({ answer: approve ? "yes" : "no", by, operation }));
        else terminal.out(approve ? `${by} said yes. Make the call again.` : `${by} said no.`);
        return EXIT.ok;
      });
    },
  });

export const approve: Command = answering(true);
export const deny: Command = answering(false);

/** Shows the question as it stands and asks; the answer is then good for that one. */
async function shownDigest(
  hf: Holdfire,
  id: string,
  wanted: boolean,
  terminal: Terminal,
): Promise<string> {
  const question = await hf.approvals.get(id);
  if (!question) throw new FailedError("Nobody is asked about this operation.");
  for (const line of questionLines(question, terminal)) terminal.err(line);
  if (!terminal.isInteractive) {
    throw new UsageError(
      "--digest is missing: which question is answered?",
      `If it is the one above: --digest ${question.digest}`,
    );
  }
  if (wanted && !isOpen(question)) {
    throw new FailedError("What it asks cannot be shown here, so there is nothing to say yes to.");
  }
  const person = personAt(terminal);
  try {
    const typed = await person.ask(wanted ? "Say yes? y or n: " : "Say no, for good? y or n: ");
    if (typed?.toLowerCase() !== "y") throw new FailedError("Nothing was changed.");
    return question.digest;
  } finally {
    person.leave();
  }
}

const isOpen = (question: Approval): boolean => canBeShown(question) && !question.answered;

async function give(
  hf: Holdfire,
  id: string,
  yes: boolean,
  answer: { readonly digest: string; readonly by: string; readonly note: string | undefined },
): Promise<void> {
  try {
    await (yes ? hf.approvals.approve(id, answer) : hf.approvals.deny(id, answer));
  } catch (error) {
    throw refusalOf(error);
  }
}

/** The ledger said no for a good reason: nobody has called the command wrongly. */
export function refusalOf(error: unknown): unknown {
  if (!isHoldfireError(error) || error.code !== "ERR_HOLDFIRE_INVALID_INPUT") return error;
  return new FailedError(error.message);
}
