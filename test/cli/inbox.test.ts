/** The inbox as a conversation: what a person types, line by line. */
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { personAt } from "../../src/cli/decisions/ask-person.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { ledgerWorld } from "./ledger-world.ts";
import { testTerminal } from "./test-terminal.ts";

const newFolder = temporaryFolder();

/** A person at the inbox of a ledger with these buckets to be dropped. */
async function sitDown(buckets: readonly string[], argv: readonly string[] = ["--by", "ana"]) {
  const world = ledgerWorld(newFolder());
  const { hf, tools } = world.open();
  for (const bucket of buckets) await tools.drop.outcome({ bucket }, { scope: bucket });
  const terminal = testTerminal({ cwd: world.folder, now: Date.now, isInteractive: true });
  const all = ["inbox", "--store", world.path, ...argv];
  const ended = runCommandLine(all, COMMANDS, terminal);
  /** Waits for the prompt, then types. */
  let read = 0;
  const answer = async (prompt: string, line: string) => {
    while (!terminal.printed().slice(read).includes(prompt)) await turn();
    read = terminal.printed().length;
    terminal.input.write(`${line}\n`);
  };
  const status = async () => (await hf.operations.list()).items.map(({ status: one }) => one);
  return { world, hf, tools, terminal, ended, answer, status };
}

test("goes through all that waits, and ends with 0 when all is answered", async () => {
  const { hf, ended, answer, terminal, status } = await sitDown(["a", "b"], []);
  await answer("Your name: ", "   ");
  await answer("Your name: ", "ana");
  await answer("Approve? ", "Y");
  await answer("Reason", "");
  await answer("Approve? ", "n");
  await answer("Reason", "we need it");
  expect(await ended).toBe(0);
  expect(terminal.printed()).toContain("Nothing more is waiting for approval.");
  expect(await status()).toEqual(["held", "denied"]);
  await hf.close();
});

test("several lines at once answer one question, not the next one too", async () => {
  const { hf, ended, answer, status } = await sitDown(["a", "b"]);
  await answer("Approve? ", "y\n\ny\n");
  await answer("Reason", "ok\ny\n\n");
  await answer("Approve? ", "q");
  expect(await ended).toBe(1);
  const { items } = await hf.operations.list();
  expect(items.map(({ answers }) => answers.length)).toEqual([1, 0]);
  expect(items[0]?.answers).toMatchObject([{ note: "ok" }]);
  expect(await status()).toEqual(["held", "held"]);
  await hf.close();
});

test("a question that was answered meanwhile is not taken, and the next one comes", async () => {
  const { hf, ended, answer, terminal } = await sitDown(["a", "b"]);
  await answer("Approve? ", "y");
  const [first] = (await hf.approvals.list()).items;
  if (!first) throw new Error("nothing waits");
  await hf.approvals.deny(first.operation.id, { digest: first.digest, by: "bob" });
  await answer("Reason", "");
  await answer("Approve? ", "q");
  expect(await ended).toBe(1);
  expect(terminal.printed()).toContain("Not accepted: ");
  expect(terminal.printed()).toContain("final");
  await hf.close();
});

test("a no counts also after another person's yes", async () => {
  const { hf, tools, ended, answer, terminal, status } = await sitDown(["a"]);
  await answer("Approve? ", "n");
  const [asked] = (await hf.approvals.list()).items;
  if (!asked) throw new Error("nothing waits");
  await hf.approvals.approve(asked.operation.id, { digest: asked.digest, by: "eve" });
  await answer("Reason", "no");
  expect(await ended).toBe(0);
  expect(terminal.printed()).toContain("Denied.");
  expect(await status()).toEqual(["denied"]);
  expect(await tools.drop.outcome({ bucket: "a" }, { scope: "a" })).toMatchObject({
    status: "denied",
  });
  await hf.close();
});

test("who hangs up answers nothing", async () => {
  const { hf, ended, terminal, answer, status } = await sitDown(["a"]);
  await answer("Approve? ", "y");
  while (!terminal.printed().includes("Reason")) await turn();
  terminal.input.end();
  expect(await ended).toBe(1);
  expect((await hf.operations.list()).items).toMatchObject([{ answers: [] }]);
  expect(await status()).toEqual(["held"]);
  await hf.close();
});

test("an empty inbox asks nothing, not even for a name", async () => {
  const world = ledgerWorld(newFolder());
  const { hf, tools } = world.open();
  await tools.pay({ to: "a" }, { scope: "s" });
  await hf.close();
  const { exitCode, out } = await world.run(["inbox"], { isInteractive: true });
  expect({ exitCode, out }).toEqual({
    exitCode: 0,
    out: "Nothing more is waiting for approval.\n",
  });
});

test("a question that has its yes is not asked again", async () => {
  const world = ledgerWorld(newFolder());
  const { hf, tools } = world.open();
  const { id } = await tools.drop.outcome({ bucket: "a" }, { scope: "s" });
  const { digest = "" } = (await hf.approvals.get(id)) ?? {};
  await hf.approvals.approve(id, { digest, by: "eve" });
  await hf.close();
  const { exitCode, out } = await world.run(["inbox"], { isInteractive: true });
  expect({ exitCode, out }).toEqual({
    exitCode: 0,
    out: "Nothing more is waiting for approval.\n",
  });
});

test("lines that were on their way before the question are thrown away, however many", async () => {
  const terminal = testTerminal();
  const person = personAt(terminal);
  // As a terminal gives them: a line a turn.
  let typed = 50;
  const drip = () => {
    terminal.input.write("y\n");
    typed -= 1;
    if (typed > 0) setImmediate(drip);
  };
  setImmediate(drip);
  const asked = person.ask("Sure? ");
  while (typed > 0 || terminal.printed() === "") await turn();
  terminal.input.write(" no \n");
  expect(await asked).toBe("no");
  person.leave();
});
