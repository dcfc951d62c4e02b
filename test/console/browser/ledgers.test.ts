/** The console on each kind of ledger, in a real Chromium, while programs write to it. */
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import type { Browser } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { findPostgres } from "../../servers/postgres.ts";
import { findRedis } from "../../servers/redis.ts";
import { findBrowser, openPage } from "./chromium.ts";
import type { StoreKind } from "./ledgers.ts";
import { startConsole, writer } from "./programs.ts";

const WRITERS = 3;
const EACH = 60;

/** What of a page's own globals is used here. */
interface Doc {
  readonly document: { querySelectorAll(selector: string): { readonly length: number } };
}

interface Place {
  readonly kind: StoreKind;
  readonly location: string;
  readonly namespace: string;
  /** What `holdfire console` takes for it. */
  readonly flags: readonly string[];
  remove(): Promise<unknown>;
}

const browser: Browser | undefined = await findBrowser();
const [redis, postgres] = [await findRedis(), await findPostgres()];
const folder = await mkdtemp(join(tmpdir(), "holdfire-console-"));
afterAll(async () => {
  await browser?.close();
  await redis?.stop();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

const unique = randomUUID().slice(0, 8);
const places: Place[] = [
  {
    ...{ kind: "sqlite", location: join(folder, "ledger.db"), namespace: "", flags: [] },
    remove: async () => {},
  },
];
if (redis) {
  const namespace = `console_test_${unique}`;
  places.push({
    ...{ kind: "redis", location: redis.url, namespace, flags: ["--prefix", namespace] },
    async remove() {
      const client = new Redis(redis.url);
      const keys = await client.keys(`${namespace}:*`);
      if (keys.length > 0) await client.del(...keys);
      await client.quit();
    },
  });
}
if (postgres) {
  const namespace = `console_test_${unique}`;
  places.push({
    ...{ kind: "postgres", location: postgres.url, namespace, flags: ["--schema", namespace] },
    async remove() {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      await client.query(`DROP SCHEMA IF EXISTS "${namespace}" CASCADE`);
      await client.end();
    },
  });
}

describe.skipIf(!browser)("a ledger", () => {
  const there = browser as Browser;

  test.each(places)(
    "in $kind: a live storm without a lost row, and an approval that one process uses once",
    async ({ kind, location, namespace, flags, remove }) => {
      const effects = join(folder, `effects-${kind}`);
      writeFileSync(effects, "");
      const args = [kind, location, namespace, effects] as const;
      // Makes the ledger, which the console does not.
      const asker = writer(...args, "ask", kind);
      const [, id] = (await asker.line()).split(" ");
      const { url, program } = await startConsole(
        ...["--store", location, ...flags, "--decide", "--by", "ana"],
      );
      try {
        const { page, complaints } = await openPage(there, url);
        await page.goto(`${url.split("#")[0]}#/operations`);
        await page.locator(`tr[data-operation="${id}"]`).waitFor();
        await page.getByText("live", { exact: true }).waitFor();
        const storm = Array.from({ length: WRITERS }, () => writer(...args, "storm", `${EACH}`));
        expect(await Promise.all(storm.map((one) => one.line()))).toEqual(storm.map(() => "done"));
        // Nothing is pressed or loaded again: every row has come by itself.
        const rows = page.locator("tbody tr");
        const all = WRITERS * EACH + 1;
        await page.waitForFunction(
          (count) =>
            (globalThis as never as Doc).document.querySelectorAll("tbody tr").length === count,
          all,
        );
        await rows.first().waitFor();
        const scopes = await page.locator("td.scope").allTextContents();
        expect(new Set(scopes).size).toBe(all);
        const lost = WRITERS * Math.floor(EACH / 10);
        await page.waitForFunction(
          (count) =>
            (globalThis as never as Doc).document.querySelectorAll(".status.unknown").length ===
            count,
          lost,
        );
        expect(await page.locator("tbody .status.claimed").count()).toBe(0);

        await page.goto(`${url.split("#")[0]}#/operations/${id}`);
        await page.getByRole("button", { name: "Approve", exact: true }).click();
        await page.getByRole("button", { name: "Approve as ana" }).click();
        expect(await asker.line()).toBe("committed");
        expect(readFileSync(effects, "utf8").trim().split("\n")).toHaveLength(1);
        await page.locator(".sentence .status.committed").waitFor();
        expect(complaints).toEqual([]);
      } finally {
        asker.stop();
        program.stop();
        await Promise.all([asker.ended(), program.ended()]);
        await remove();
      }
    },
    120_000,
  );
});
