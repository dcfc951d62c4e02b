/**
 * `holdfire inbox`: what is waiting for approval. In a terminal it asks, one question at a time;
 * elsewhere it lists.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { canBeShown, othersUnknown } from "../../describe/decision-facts.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import type { Approval } from "../../gate/approvals.ts";
import { checkPerson } from "../../key/check-name.ts";
import { type Command, defineCommand, EXIT, FailedError, LEDGER } from "../command.ts";
import { withLedger } from "../ledger/open-ledger.ts";
import { eachItem } from "../ledger/operations.ts";
import { questionLines } from "../ledger/question.ts";
import { jsonText, paint, type Terminal, visible } from "../terminal.ts";
import { giveAnswer } from "./answer.ts";
import { type Person, personAt } from "./ask-person.ts";

const PAGE = 100;

export const inbox: Command = defineCommand({
  name: "inbox",
  summary: "Shows what waits for a person, and takes the answers.",
  takes: [],
  about: [
    "In a terminal it shows one question at a time, with arguments, side effects and diff, and asks: y, n, v to view everything, s to skip, q to quit; then for a reason. An approval counts for exactly what was shown. A denial is final.",
    "With --list, with --json, or without a terminal, it prints what is waiting and takes no answers. Ends with 1 if something is waiting, so that a script can tell.",
  ],
  options: {
    ...LEDGER,
    by: { type: "string", value: "NAME", about: "Your name, which is recorded with the answers." },
    list: { type: "boolean", about: "Only lists, also in a terminal." },
  },
  run: ({ values }, terminal) => {
    if (values.by !== undefined) checkPerson(values.by);
    return withLedger(values, terminal, async (hf) => {
      const asks = terminal.isInteractive && !values.list && !values.json;
      if (asks) return askAll(hf, values.by, terminal);
      const waiting: Waiting[] = [];
      for await (const question of eachQuestion(hf, terminal)) {
        waiting.push({ ...question, alsoUnknown: await othersUnknown(hf, question.operation) });
      }
      const open = waiting.filter(({ answered }) => !answered);
      if (values.json) terminal.out(jsonText({ items: waiting }));
      else print(waiting, open.length, terminal);
      return open.length > 0 ? EXIT.found : EXIT.ok;
    });
  },
});

const eachQuestion = (hf: Holdfire, terminal: Terminal): AsyncGenerator<Approval> =>
  eachItem((cursor) => hf.approvals.list({ limit: PAGE, ...(cursor && { cursor }) }), terminal);

interface Waiting extends Approval {
  readonly alsoUnknown: readonly OperationView[];
}

function print(waiting: readonly Waiting[], open: number, terminal: Terminal): void {
  for (const { alsoUnknown, ...question } of waiting) {
    for (const line of questionLines(question, terminal, alsoUnknown)) terminal.out(line);
    terminal.out("");
  }
  terminal.err(`Waiting for approval: ${open}.`);
}

async function askAll(
  hf: Holdfire,
  given: string | undefined,
  terminal: Terminal,
): Promise<number> {
  const person = personAt(terminal);
  let by = given;
  let left = 0;
  let asked = 0;
  try {
    for await (const { operation } of eachQuestion(hf, terminal)) {
      // As it is now: the list may be as old as the person was slow.
      const question = await hf.approvals.get(operation.id);
      if (!question || question.answered) continue;
      by ??= await askName(person, terminal);
      if (by === undefined) return EXIT.found;
      asked += 1;
      terminal.out(paint(terminal, "bold", `\nQuestion ${asked}`));
      const answered = await askOne(question, by, person, hf, terminal);
      if (answered === "left") {
        terminal.out("");
        return EXIT.found;
      }
      if (answered === "open") left += 1;
    }
  } finally {
    person.leave();
  }
  terminal.out(
    left > 0 ? `${left} left without an answer.` : "Nothing more is waiting for approval.",
  );
  return left > 0 ? EXIT.found : EXIT.ok;
}

/** Asked once; a name that the ledger would not take is asked for again. */
async function askName(person: Person, terminal: Terminal): Promise<string | undefined> {
  for (;;) {
    const typed = await person.ask("Your name: ");
    if (typed === undefined) return undefined;
    try {
      return checkPerson(typed);
    } catch {
      terminal.out("A name is needed: it is recorded with the answer.");
    }
  }
}

const PROMPT = "Approve? y = yes, n = no (final), v = view all of it, s = skip, q = quit: ";

/** `open`: skipped, or the answer was not accepted. `left`: the person wants to stop. */
async function askOne(
  question: Approval,
  by: string,
  person: Person,
  hf: Holdfire,
  terminal: Terminal,
): Promise<"answered" | "open" | "left"> {
  const others = await othersUnknown(hf, question.operation);
  for (const line of questionLines(question, terminal, others)) terminal.out(line);
  if (!canBeShown(question)) {
    terminal.out("Skipped: answer it where your program can decrypt it (hf.approvals).");
    return "open";
  }
  for (;;) {
    const typed = (await person.ask(PROMPT))?.toLowerCase();
    if (typed === undefined || typed === "q") return "left";
    if (typed === "s") return "open";
    if (typed === "v") terminal.out(jsonText(question.shown));
    if (typed !== "y" && typed !== "n") continue;
    const note = await person.ask("Reason (may be empty): ");
    if (note === undefined) return "left";
    const { operation, digest } = question;
    try {
      const answer = { digest, by, note: note || undefined };
      await giveAnswer(hf, operation.id, typed === "y", answer);
    } catch (error) {
      // The question has changed, was answered or has expired meanwhile: say so, and go on with the next.
      if (!(error instanceof FailedError)) throw error;
      terminal.out(`Not accepted: ${visible(error.message)}`);
      return "open";
    }
    terminal.out(
      typed === "y"
        ? "Approved. It fires when its call is made again, if nothing has changed."
        : "Denied. That is final for this operation.",
    );
    return "answered";
  }
}
