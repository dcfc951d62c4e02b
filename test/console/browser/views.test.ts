/**
 * Every view in a real Chromium, light and dark, wide and narrow: no violation found by axe, nothing wider than the
 * screen, and all of it reached by keyboard. With HOLDFIRE_PICTURES=1 the pictures of the docs are made.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Served, serve } from "../../../src/cli/console/serve.ts";
import { createHoldfire, type Holdfire } from "../../../src/create.ts";
import { sqliteStore } from "../../../src/stores/sqlite/index.ts";
import { findBrowser, NARROW, openPage, violationsIn, WIDE } from "./chromium.ts";
import { fillForPictures } from "./scene.ts";

const browser: Browser | undefined = await findBrowser();
afterAll(() => browser?.close());

const pictures = env.HOLDFIRE_PICTURES === "1";
const pictureAt = (name: string): string =>
  fileURLToPath(new URL(`../../../docs/images/console-${name}.png`, import.meta.url));

describe.skipIf(!browser)("every view", () => {
  const there = browser as Browser;
  let folder: string;
  let hf: Holdfire;
  let served: Served;
  let empty: { hf: Holdfire; served: Served };
  let ids: Awaited<ReturnType<typeof fillForPictures>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfire-console-"));
    const open = async (name: string) => {
      const made = createHoldfire({
        store: sqliteStore({ path: join(folder, ".holdfire", name) }),
      });
      const person = { name: "ana", mayDecide: true };
      return { hf: made, served: await serve(made, { port: 0, token: "token", person }) };
    };
    ({ hf, served } = await open("ledger.db"));
    empty = await open("empty.db");
    ids = await fillForPictures(hf);
  }, 60_000);
  afterAll(async () => {
    for (const one of [served, empty?.served, hf, empty?.hf]) await one?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The name of a view, how it is come by, and what shows that it is there. */
  const views: readonly (readonly [string, (page: Page) => Promise<unknown>])[] = [
    ["inbox", (page) => page.locator("article").first().waitFor()],
    [
      "answer",
      async (page) => {
        await page.getByRole("button", { name: "Approve", exact: true }).first().click();
        await page.getByText("What this causes.").waitFor();
      },
    ],
    [
      "operations",
      async (page) => {
        await page.getByRole("link", { name: "Operations", exact: true }).click();
        await page.locator("tbody tr").nth(10).waitFor();
      },
    ],
    [
      "timeline",
      async (page) => {
        await page.goto(`${served.address}/#/operations/${ids.retried}`);
        await page.locator(".picture .bar").first().waitFor();
      },
    ],
    [
      "unknown",
      async (page) => {
        await page.goto(`${served.address}/#/operations/${ids.unknown}`);
        await page.getByRole("button", { name: "It did not happen" }).click();
      },
    ],
    [
      "health",
      async (page) => {
        await page.getByRole("link", { name: "Health" }).click();
        await page.locator("canvas").waitFor();
      },
    ],
  ];

  /** What the docs show, of all that is looked at. */
  const shown = [
    "inbox light wide",
    "timeline dark wide",
    "health light wide",
    "inbox dark narrow",
  ];

  test.each([
    ["light", "wide", { ...WIDE }],
    ["dark", "wide", { ...WIDE, dark: true }],
    ["light", "narrow", { ...NARROW }],
    ["dark", "narrow", { ...NARROW, dark: true }],
  ] as const)(
    "%s and %s",
    async (colours, size, look) => {
      const url = `${served.address}/#token=token`;
      const { page, context, complaints } = await openPage(there, url, look);
      for (const [name, come] of views) {
        await come(page);
        const named = `${name} ${colours} ${size}`;
        expect(await violationsIn(page), named).toEqual([]);
        const over = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        expect(over, named).toBeLessThanOrEqual(0);
        if (pictures && shown.includes(named)) {
          const path = pictureAt(named.replaceAll(" ", "-"));
          await page.screenshot({ path });
        }
        if (env.HOLDFIRE_LOOK)
          await page.screenshot({ path: join(env.HOLDFIRE_LOOK, `${named}.png`) });
      }
      expect(complaints).toEqual([]);
      await context.close();
    },
    120_000,
  );

  test("that is empty, or failed, says what to do", async () => {
    const { page, context } = await openPage(there, `${empty.served.address}/#token=token`);
    await page.getByText("Nothing waits for a person.").waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole("link", { name: "Operations" }).click();
    await page.getByText("The ledger has no operations yet.").waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.goto(`${empty.served.address}/#/operations?q=nothing`);
    await page.getByText("No operation matches.").waitFor();
    await page.getByRole("link", { name: "Health" }).click();
    await page.getByText("No operation was made in this time.").waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.goto(`${empty.served.address}/#/operations/none`);
    await page.getByText("There is nothing here.").waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await context.close();
  }, 60_000);

  test("is worked by keyboard alone: a question is found and answered", async () => {
    const { page, context } = await openPage(there, `${served.address}/#token=token`);
    await page.locator("article").first().waitFor();
    const focused = () => page.evaluate<string>("document.activeElement.textContent ?? ''");
    for (let presses = 0; (await focused()) !== "Deny" && presses < 40; presses += 1) {
      await page.keyboard.press("Tab");
    }
    expect(await focused()).toBe("Deny");
    await page.keyboard.press("Enter");
    await page.getByText("What this causes.").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type("by keyboard");
    await page.keyboard.press("Enter");
    await page.locator(".notice.good").waitFor();
    expect(await page.locator(".notice.good").textContent()).toContain("denied now");
    await page.goto(`${served.address}/#/operations`);
    await page.locator("tbody tr").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("charge");
    await page.waitForURL(/q=charge/);
    await context.close();
  }, 60_000);
});
