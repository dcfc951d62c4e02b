/**
 * One question to the person at the terminal, and their answer into the ledger.
 *
 * @module
 */

import { isHoldfireError } from "../../errors.ts";
import type { Approval } from "../../gate/approvals.ts";
import type { Holdfire } from "../../holdfire.ts";
import { jsonText, visible } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import type { Person } from "./ask-person.ts";
import { canBeShown, questionLines } from "./question.ts";

export type Answered = "approved" | "denied" | "skipped" | "refused" | "left";

const PROMPT = "Approve? y = yes, n = no (final), v = view all of it, s = skip, q = quit: ";

export async function answerOne(
  question: Approval,
  by: string,
  person: Person,
  hf: Holdfire,
  terminal: Terminal,
): Promise<Answered> {
  for (const line of questionLines(question, terminal)) terminal.out(line);
  if (!canBeShown(question)) {
    terminal.out("Skipped: answer it where your program can open it (hf.approvals).");
    return "skipped";
  }
  for (;;) {
    const typed = (await person.ask(PROMPT))?.toLowerCase();
    if (typed === undefined || typed === "q") return "left";
    if (typed === "s") return "skipped";
    if (typed === "v") terminal.out(jsonText(question.shown));
    if (typed !== "y" && typed !== "n") continue;
    const note = await person.ask("Reason (may be empty): ");
    if (note === undefined) return "left";
    return send(question, typed === "y", { by, note: note || undefined }, hf, terminal);
  }
}

async function send(
  { operation, digest }: Approval,
  approve: boolean,
  answer: { readonly by: string; readonly note: string | undefined },
  hf: Holdfire,
  terminal: Terminal,
): Promise<Answered> {
  try {
    if (approve) await hf.approvals.approve(operation.id, { digest, ...answer });
    else await hf.approvals.deny(operation.id, { digest, ...answer });
  } catch (error) {
    // The question has changed, was answered or ran out meanwhile: say so, and go on with the next.
    if (!isHoldfireError(error) || error.code !== "ERR_HOLDFIRE_INVALID_INPUT") throw error;
    terminal.out(`Not taken: ${visible(error.message)}`);
    return "refused";
  }
  terminal.out(
    approve
      ? "Approved. It fires when its call is made again, if nothing has changed."
      : "Denied. That is final for this operation.",
  );
  return approve ? "approved" : "denied";
}
