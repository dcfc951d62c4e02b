/**
 * The official conformance suite, client side, with the guard around the client. Nothing may fail: that is as
 * green as it can be without the guard.
 */
import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const SUITE = fileURLToPath(
  new URL("../../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const CLIENT = fileURLToPath(new URL("conformance-client.ts", import.meta.url));
/** How soon a stream is opened again depends on the machine and not on us. */
const TIMED = "client-sse-retry-timing";
const PATIENCE_MS = 240_000;

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  readonly errorMessage?: string;
}

/** Runs scenarios against a guarded client; what was checked, by scenario. */
async function run(version: "v1" | "v2", what: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-conformance-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const command = `${process.execPath} ${CLIENT} ${version} guarded`;
  const args = [
    SUITE,
    "client",
    "--command",
    command,
    ...what,
    "--timeout",
    "120000",
    "-o",
    folder,
  ];
  // It ends with 1 for a warning too; what counts is in the files.
  await promisify(execFile)(process.execPath, args, { timeout: PATIENCE_MS }).catch(() => {});
  const files = globSync(join(folder, "**", "checks.json"));
  return files.map((file): { scenario: string; checks: Check[] } => ({
    scenario: basename(dirname(file)).replace(/-\d{4}-\d\d-\d\dT.*$/, ""),
    checks: JSON.parse(readFileSync(file, "utf8")),
  }));
}

const wrong = (runs: Awaited<ReturnType<typeof run>>): string[] =>
  runs.flatMap(({ scenario, checks }) =>
    checks
      .filter(({ status, id }) => status === "FAILURE" && id !== TIMED)
      .map(({ id, errorMessage }) => `${scenario}: ${id}: ${errorMessage}`),
  );

const passed = (runs: Awaited<ReturnType<typeof run>>): string[] =>
  runs
    .filter(({ checks }) => checks.some(({ status }) => status === "SUCCESS"))
    .map(({ scenario }) => scenario);

const CORE = ["elicitation-sep1034-client-defaults", "initialize", "sse-retry", "tools_call"];

test("SDK v1: all scenarios of the core suite, authorization included", async () => {
  const runs = await run("v1", ["--suite", "core"]);
  expect(wrong(runs)).toEqual([]);
  expect(passed(runs)).toEqual(
    expect.arrayContaining([...CORE, "scope-step-up", "pre-registration"]),
  );
  expect(runs.length).toBeGreaterThanOrEqual(18);
}, 300_000);

test.each(CORE)(
  "SDK v2: %s",
  async (scenario) => {
    const runs = await run("v2", ["--scenario", scenario]);
    expect(wrong(runs)).toEqual([]);
    expect(passed(runs)).toEqual([scenario]);
  },
  300_000,
);
