/** The inbox and `show`, driven through a real terminal: what is typed, and what stands on the screen. */
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { HIDDEN, ledgerWorld } from "./ledger-world.ts";
import { findTmux, openScreen } from "./tmux.ts";

const newFolder = temporaryFolder();
const HOLDFIRE = `"${process.execPath}" "${resolve("src/cli/main.ts")}"`;
const PROMPT = "Approve? y = yes, n = no (final), v = view all of it, s = skip, q = quit:";

/** A ledger in which two questions wait, and a terminal to answer them in. */
async function waitingLedger() {
  const world = ledgerWorld(newFolder());
  const { held } = await world.fill();
  const { hf, tools } = world.open();
  const second = await tools.drop.outcome({ bucket: "two\u001b[2J\u001b[H" }, { scope: "chat-5" });
  await hf.close();
  const screen = await openScreen(world.folder);
  const store = `--store "${world.path}"`;
  const get = async (id: string) => {
    const opened = world.open();
    const found = await opened.hf.operations.get(id);
    await opened.hf.close();
    return found;
  };
  return { ...world, held, second, screen, store, get };
}

describe.skipIf(!findTmux())("in a terminal", () => {
  test("the inbox shows one question at a time and takes the answers", async () => {
    const { screen, store, held, second, get, open, dropped } = await waitingLedger();
    await screen.type(`${HOLDFIRE} inbox ${store} --by ana`);
    const first = await screen.shows(PROMPT);
    for (const line of [
      "Question 1",
      "drop_bucket in chat-4",
      `key ${held.key}`,
      '"bucket": "logs"',
      "also: e-mails the owner",
      "update bucket/logs",
      "-   files: 3",
      "+   files: 0",
      "delete report\\u{202e}gpj.exe\\u{200b}",
    ]) {
      expect(first).toContain(line);
    }
    expect(first).not.toContain(HIDDEN);
    expect(first).not.toContain("Question 2");
    // Colours, because it is a terminal.
    expect(await screen.text("colours")).toContain("\u001b[32m+   files: 0");

    await screen.type("maybe");
    await screen.shows(`${PROMPT} maybe\n${PROMPT}`);
    await screen.type("v");
    await screen.shows('"after": {');
    await screen.type("y");
    await screen.shows("Reason (may be empty):");
    await screen.type("looks right");
    await screen.shows("Approved. It fires when its call is made again");

    // What the second one would do to a terminal that obeyed it is there to read instead.
    const next = await screen.shows("Question 2");
    expect(next).toContain("looks right");
    await screen.shows("two\\u001b[2J\\u001b[H");
    await screen.type("s");
    await screen.shows("1 left without an answer.");
    await screen.type('echo "ended $?"');
    await screen.shows("ended 1");

    expect(await get(held.id)).toMatchObject({
      status: "held",
      answers: [{ approve: true, by: "ana", note: "looks right", counted: true }],
    });
    expect(await get(second.id)).toMatchObject({ status: "held", answers: [] });
    expect(dropped).toEqual([]);
    const { hf, tools } = open();
    await tools.drop({ bucket: "logs" }, { scope: "chat-4" });
    await hf.close();
    expect(dropped).toHaveLength(1);

    await screen.clear();
    await screen.type(`${HOLDFIRE} show ${held.key} ${store}`);
    const shown = await screen.shows("committed (by the service's reply");
    for (const line of [
      "tool    drop_bucket",
      'ana approved: "looks right"',
      "attempt 1 fired (first send)",
      "attempt 1 ended: committed",
    ]) {
      expect(shown).toContain(line);
    }
  });

  test("a no is taken, and Ctrl-C leaves the rest as it is", async () => {
    const { screen, store, held, second, get, dropped } = await waitingLedger();
    await screen.type(`${HOLDFIRE} inbox ${store}`);
    await screen.shows("Your name:");
    await screen.type("bob");
    await screen.shows(PROMPT);
    await screen.type("n");
    await screen.shows("Reason (may be empty):");
    await screen.type("");
    await screen.shows("Denied. That is final for this operation.");
    await screen.shows("Question 2");
    await screen.press("C-c");
    await screen.type('echo "ended $?"');
    await screen.shows("ended 1");
    expect(await get(held.id)).toMatchObject({ status: "denied", by: "bob" });
    expect(await get(second.id)).toMatchObject({ status: "held", answers: [] });
    expect(dropped).toEqual([]);
  });

  test("what is typed before a question stands there answers nothing", async () => {
    const { screen, store, held, second, get } = await waitingLedger();
    await screen.type(`${HOLDFIRE} inbox ${store} --by ana\ny\n\ny\n`);
    await screen.shows(PROMPT);
    await screen.type("q");
    await screen.type('echo "ended $?"');
    await screen.shows("ended 1");
    for (const { id } of [held, second]) expect(await get(id)).toMatchObject({ answers: [] });
  });

  test("approve shows the question and asks", async () => {
    const { screen, store, held, get } = await waitingLedger();
    await screen.type(`${HOLDFIRE} approve ${held.key} --by ana ${store}`);
    const asked = await screen.shows("Approve? y or n:");
    expect(asked).toContain("also: e-mails the owner");
    await screen.type("n");
    await screen.shows("Nothing was changed.");
    expect(await get(held.id)).toMatchObject({ answers: [] });
    await screen.clear();
    await screen.type(`${HOLDFIRE} approve ${held.key} --by ana ${store}`);
    await screen.shows("Approve? y or n:");
    await screen.type("y");
    await screen.shows("ana approved it. Make the call again.");
    expect(await get(held.id)).toMatchObject({ answers: [{ by: "ana", approve: true }] });
  });

  test("watch goes on until Ctrl-C", async () => {
    const { screen, store, open } = await waitingLedger();
    await screen.type(`${HOLDFIRE} watch --every 50ms ${store}`);
    await screen.shows("Ctrl-C ends it.");
    const { hf, tools } = open();
    let turn = 0;
    while (!(await screen.text()).includes("committed  pay")) {
      turn += 1;
      await tools.pay({ to: `p${turn}` }, { scope: "watched" });
    }
    await hf.close();
    await screen.press("C-c");
    await screen.type('echo "ended $?"');
    await screen.shows("ended 0");
  });
});
