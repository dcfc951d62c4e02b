/** People answer in a real Chromium; programs on the same ledger go on by what they said. */
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Served, serve } from "../../../src/cli/console/serve.ts";
import { createHoldfire, type Holdfire } from "../../../src/create.ts";
import { sqliteStore } from "../../../src/stores/sqlite/index.ts";
import { type ConsoleTools, consoleTools } from "../console-world.ts";
import { findBrowser, openPage } from "./chromium.ts";
import { type Program, startConsole, writer } from "./programs.ts";

const browser: Browser | undefined = await findBrowser();
afterAll(() => browser?.close());

let folder: string;
const programs: Program[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfire-console-"));
});
afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.stop();
    await program.ended();
  }
  await rm(folder, { recursive: true, force: true });
});

const own = (program: Program): Program => {
  programs.push(program);
  return program;
};

/** Opens the answer, reads what it causes, and gives it. */
async function give(page: Page, card: string, label: string, note?: string): Promise<string> {
  const place = page.locator(card);
  await place.getByRole("button", { name: label, exact: true }).click();
  const form = place.locator("form.confirm");
  const causes = (await form.locator("p").first().textContent()) ?? "";
  if (note !== undefined) await form.getByRole("textbox").fill(note);
  await form.locator("button[type=submit]").click();
  return causes;
}

describe.skipIf(!browser)("with a program that waits", () => {
  const there = browser as Browser;

  async function asking() {
    const [path, effects] = [join(folder, "ledger.db"), join(folder, "effects")];
    writeFileSync(effects, "");
    const program = own(writer("sqlite", path, "", effects, "ask", "1"));
    const [status, id] = (await program.line()).split(" ");
    expect(status).toBe("held");
    const console = await startConsole("--store", path, "--decide", "--by", "ana");
    own(console.program);
    return { program, id, url: console.url, effects: () => readFileSync(effects, "utf8") };
  }

  test("an approval lets the waiting process run it, once", async () => {
    const { program, id, url, effects } = await asking();
    const { page, complaints } = await openPage(there, url);
    await page.locator(`[data-operation="${id}"]`).waitFor();
    // The token is not left in the address, where it would be copied with it.
    expect(page.url()).not.toContain("token");
    expect(effects()).toBe("");
    const causes = await give(page, `[data-operation="${id}"]`, "Approve", "customer called");
    expect(causes).toContain("Nothing is sent by the approval itself");
    expect(await program.line()).toBe("committed");
    expect(effects().trim().split("\n")).toHaveLength(1);
    // The page follows by itself.
    await page.getByText("Nothing waits for a person.").waitFor();
    await page.goto(`${url.split("#")[0]}#/operations/${id}`);
    await page.getByText('ana approved: "customer called"').waitFor();
    expect(complaints).toEqual([]);
  });

  test("a denial is final, and nothing is sent", async () => {
    const { program, id, url, effects } = await asking();
    const { page } = await openPage(there, url);
    await page.locator(`[data-operation="${id}"]`).waitFor();
    const causes = await give(page, `[data-operation="${id}"]`, "Deny", "not ours");
    expect(causes).toContain("A denial is final");
    expect(await program.line()).toBe("denied");
    expect(effects()).toBe("");
  });

  test("without --decide there is nothing to press", async () => {
    const path = join(folder, "ledger.db");
    const program = own(writer("sqlite", path, "", join(folder, "effects"), "ask", "1"));
    await program.line();
    const { url, program: console } = await startConsole("--store", path);
    own(console);
    const { page } = await openPage(there, url);
    await page.getByText("This console is read-only for you.").waitFor();
    expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  });
});

describe.skipIf(!browser)("on a ledger of this process", () => {
  const there = browser as Browser;
  let hf: Holdfire;
  let tools: ConsoleTools;
  let served: Served;
  let url: string;
  const found = new Set<string>();

  beforeEach(async () => {
    hf = createHoldfire({ store: sqliteStore({ path: join(folder, "ledger.db") }) });
    tools = consoleTools(hf, [], found);
    const person = { name: "ana", mayDecide: true };
    served = await serve(hf, { port: 0, token: "token", person });
    url = `${served.address}/#token=token`;
  });
  afterEach(async () => {
    await served.close();
    await hf.close();
  });

  test("an unknown is settled three ways", async () => {
    const ids: string[] = [];
    for (const payee of ["a", "b", "c"]) {
      ids.push((await tools.pay.outcome({ payee }, { scope: payee })).id);
    }
    found.add("c");
    const { page } = await openPage(there, url);
    const card = (n: number) => `[data-operation="${ids[n]}"]`;
    await page.locator(card(2)).waitFor();
    expect(await give(page, card(0), "It happened", "seen")).toContain("recorded as done");
    expect(await give(page, card(1), "It did not happen")).toContain("may be sent again");
    expect(await give(page, card(2), "Look again")).toContain("Nothing is sent again");
    await page.getByText("Nothing waits for a person.").waitFor();
    const settled = await Promise.all(ids.map((id) => hf.operations.get(id)));
    expect(settled).toMatchObject([
      { status: "committed", via: "person", by: "ana", note: "seen" },
      { status: "not_applied", reason: "resolved", by: "ana" },
      { status: "committed", via: "read" },
    ]);
  });

  test("of two people who answer at once one counts, and the other is told, though the card is gone", async () => {
    const { id } = await tools.post.outcome({ text: "x" }, { scope: "s" });
    const card = `[data-operation="${id}"]`;
    const [{ page: first }, { page: second }] = [
      await openPage(there, url),
      await openPage(there, url),
    ];
    // The second answer is on its way until the first has taken the card away.
    await second.route(/\/resolve$/, async (route) => {
      await second.locator(card).waitFor({ state: "detached" });
      await route.continue();
    });
    const answer = async (page: Page, label: string) => {
      await page.locator(card).getByRole("button", { name: label, exact: true }).click();
      await page.locator("form.confirm button[type=submit]").click();
    };
    await answer(second, "It did not happen");
    await answer(first, "It happened");
    await first.locator(".notice.good").getByText("recorded.").waitFor();
    await second
      .locator(".notice.bad")
      .getByText(/is settled already|has changed/)
      .waitFor();
    expect(await hf.operations.get(id)).toMatchObject({ status: "committed", by: "ana" });
  });

  test("script in an argument, a name or a note is text, and hidden characters are marked", async () => {
    const attack = `"><img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>`;
    await tools.refund.outcome({ payee: `${attack}\u202etxt.exe`, cents: 1 }, { scope: attack });
    const { id } = await tools.post.outcome({ text: attack }, { scope: attack });
    await hf.operations.resolve(id, { as: "committed", by: attack.slice(0, 120), note: attack });
    const { page, complaints } = await openPage(there, url);
    await page.locator("article pre").first().waitFor();
    expect(await page.locator("article pre").first().textContent()).toContain("onerror");
    expect(await page.locator(".hidden-character").first().textContent()).toBe("\\u202e");
    await page.goto(`${served.address}/#/operations/${id}`);
    await page.locator(".timeline").waitFor();
    await page.goto(`${served.address}/#/operations?q=${encodeURIComponent(attack)}`);
    await page.locator("tbody tr").first().waitFor();
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("without the token the page says what to do, and shows nothing", async () => {
    await tools.note({ text: "x" }, { scope: "s" });
    const { page } = await openPage(there, `${served.address}/`);
    await page.getByText("You are not signed in to this console.").waitFor();
    await page.getByText("Open the address that holdfire console printed").waitFor();
    expect(await page.locator("tr, article").count()).toBe(0);
  });
});
