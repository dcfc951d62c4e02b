/**
 * `holdfire inbox`: what waits for a person's yes or no. In a terminal it asks, one question at a time;
 * elsewhere it lists.
 *
 * @module
 */

import type { Approval } from "../../gate/approvals.ts";
import type { Holdfire } from "../../holdfire.ts";
import { checkPerson } from "../../key/check-name.ts";
import { type Command, defineCommand, LEDGER } from "../command.ts";
import { EXIT, FailedError } from "../exit.ts";
import { withLedger } from "../open-holdfire.ts";
import { jsonText } from "../printable.ts";
import { paint, type Terminal } from "../terminal.ts";
import { answerOne } from "./answer-one.ts";
import { type Person, personAt } from "./ask-person.ts";
import { questionLines } from "./question.ts";

const PAGE = 100;

export const inbox: Command = defineCommand({
  name: "inbox",
  summary: "Shows what waits for a person, and takes the answers.",
  takes: [],
  about: [
    "In a terminal it shows one question at a time, with arguments, side effects and diff, and asks: y, n, v to view everything, s to skip, q to quit; then for a reason. A yes is good for exactly what was shown. A no is final.",
    "With --list, with --json, or where nobody can type, it prints what waits. Ends with 1 if something waits for an answer, so that a script can tell.",
  ],
  options: {
    ...LEDGER,
    by: { type: "string", value: "NAME", about: "Your name, which is kept with the answers." },
    list: { type: "boolean", about: "Only lists, also in a terminal." },
  },
  run: ({ values }, terminal) => {
    if (values.by !== undefined) checkPerson(values.by);
    return withLedger(values, terminal, async (hf) => {
      const asks = terminal.isInteractive && !values.list && !values.json;
      if (asks) return decide(hf, values.by, terminal);
      const waiting: Approval[] = [];
      for await (const question of eachQuestion(hf, terminal)) waiting.push(question);
      const open = waiting.filter(({ answered }) => !answered);
      if (values.json) terminal.out(jsonText({ items: waiting }));
      else print(waiting, open.length, terminal);
      return open.length > 0 ? EXIT.found : EXIT.ok;
    });
  },
});

async function* eachQuestion(hf: Holdfire, { signal }: Terminal): AsyncGenerator<Approval> {
  let cursor: string | undefined;
  do {
    if (signal.aborted) throw new FailedError("Stopped before the end.");
    const page = await hf.approvals.list({ limit: PAGE, ...(cursor && { cursor }) });
    yield* page.items;
    ({ cursor } = page);
  } while (cursor !== undefined);
}

function print(waiting: readonly Approval[], open: number, terminal: Terminal): void {
  for (const question of waiting) {
    for (const line of questionLines(question, terminal)) terminal.out(line);
    terminal.out("");
  }
  terminal.err(`Questions that wait for an answer: ${open}.`);
}

async function decide(hf: Holdfire, by: string | undefined, terminal: Terminal): Promise<number> {
  const person = personAt(terminal);
  try {
    return await goThrough(hf, by, person, terminal);
  } finally {
    person.leave();
  }
}

async function goThrough(
  hf: Holdfire,
  given: string | undefined,
  person: Person,
  terminal: Terminal,
): Promise<number> {
  let by = given;
  let left = 0;
  let asked = 0;
  for await (const { operation } of eachQuestion(hf, terminal)) {
    // As it stands now: the list may be as old as the person was slow.
    const question = await hf.approvals.get(operation.id);
    if (!question || question.answered) continue;
    by ??= await nameOf(person, terminal);
    if (by === undefined) return EXIT.found;
    asked += 1;
    terminal.out(paint(terminal, "bold", `\nQuestion ${asked}`));
    const answered = await answerOne(question, by, person, hf, terminal);
    if (answered === "left") {
      terminal.out("");
      return EXIT.found;
    }
    if (answered === "skipped" || answered === "refused") left += 1;
  }
  terminal.out(left > 0 ? `${left} left without an answer.` : "Nothing more waits for an answer.");
  return left > 0 ? EXIT.found : EXIT.ok;
}

/** Asked once; a name that the ledger would not take is asked for again. */
async function nameOf(person: Person, terminal: Terminal): Promise<string | undefined> {
  for (;;) {
    const typed = await person.ask("Your name: ");
    if (typed === undefined) return undefined;
    try {
      return checkPerson(typed);
    } catch {
      terminal.out("A name is needed: it is kept with the answer.");
    }
  }
}
