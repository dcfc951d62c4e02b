/**
 * A real Chromium for tests, by playwright-core; it downloads none of its own.
 *
 * @module
 */

import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import process, { env } from "node:process";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const HOW =
  "Install it (Debian: apt-get install -y chromium), or set HOLDFIRE_CHROMIUM to its path.";

function pathOfChromium(): string | undefined {
  const folders = (env.PATH ?? "").split(delimiter);
  const all = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [env.HOLDFIRE_CHROMIUM ?? [], all].flat().find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Without one it says so, and fails if `HOLDFIRE_REQUIRE_SERVERS=1`. */
export async function findBrowser(): Promise<Browser | undefined> {
  const executablePath = pathOfChromium();
  if (executablePath === undefined) {
    if (env.HOLDFIRE_REQUIRE_SERVERS === "1") throw new Error(`No Chromium. ${HOW}`);
    process.stdout.write(`skipped: no Chromium. ${HOW}\n`);
    return undefined;
  }
  // Chromium refuses its sandbox to root.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args: [...args, "--disable-dev-shm-usage"] });
}

export interface Look {
  readonly dark?: boolean;
  readonly width?: number;
  readonly height?: number;
}

export const WIDE = { width: 1_100, height: 850 } as const;
export const NARROW = { width: 375, height: 760 } as const;

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page complained of: errors, and what its policy kept it from. */
  readonly complaints: string[];
}

/** A browser of its own, as far as a server can tell. */
export async function openPage(browser: Browser, url: string, look: Look = {}): Promise<OpenPage> {
  const { dark = false, width = WIDE.width, height = WIDE.height } = look;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (said) => {
    if (said.type() === "error" || said.type() === "warning") complaints.push(said.text());
  });
  // Nothing may be loaded from outside.
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== "data:" && host !== new URL(url).host) complaints.push(request.url());
  });
  await page.goto(url);
  return { page, context, complaints };
}

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** What axe finds wrong, in a line each. Run by the browser's own tools, so that the page's policy stays as it is. */
export async function violationsIn(page: Page): Promise<string[]> {
  const { readFileSync } = await import("node:fs");
  await page.evaluate(readFileSync(AXE, "utf8"));
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(
          what: object,
          how: object,
        ): Promise<{
          violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
        }>;
      };
    };
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await axe.run((globalThis as unknown as { document: object }).document, {
      runOnly: tags,
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
  });
}
