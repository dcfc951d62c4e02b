/**
 * A program for any runtime: the contract of a store on those that need no server, and what holds of requests on each.
 * Prints one line of JSON with what passed and what failed, and ends with 1 if something failed.
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "../../src/stores/memory.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { storeContract, type TestRunner } from "../../src/testing/index.ts";
import { wireChecks } from "./wire-checks.ts";

interface Registered {
  readonly title: string;
  readonly body: () => Promise<void>;
}

const registered: Registered[] = [];
const around: string[] = [];
/** As Jest calls a test: without a context. */
const runner: TestRunner = {
  describe(name, body) {
    around.push(name);
    body();
    around.pop();
  },
  test: (name, body) =>
    void registered.push({ title: [...around, name].join(" > "), body: () => body() }),
};

const place = mkdtempSync(join(tmpdir(), "holdfire-runtime-"));
let ledgers = 0;
let path = "";
const newPath = (): string => {
  ledgers += 1;
  path = join(place, String(ledgers), "ledger.db");
  return path;
};

storeContract("memory", { runner, open: ({ now }) => memoryStore({ now }) });
storeContract("sqlite", {
  runner,
  open: ({ now }) => sqliteStore({ path: newPath(), now }),
  reopen: ({ now }) => sqliteStore({ path, now }),
});
storeContract("sqlite on the host's clock", {
  runner,
  open: () => sqliteStore({ path: newPath() }),
  reopen: () => sqliteStore({ path }),
  clock: "server",
});
wireChecks(runner);

const failed: string[] = [];
for (const { title, body } of registered) {
  try {
    await body();
  } catch (error) {
    failed.push(`${title}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
rmSync(place, { recursive: true, force: true });
console.log(JSON.stringify({ passed: registered.length - failed.length, failed }));
process.exit(failed.length > 0 ? 1 : 0);
