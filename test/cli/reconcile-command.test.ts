import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { defineConfig } from "../../src/cli/config.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { createHoldfire } from "../../src/create.ts";
import { absent, committed, type Reading } from "../../src/engine/define/reading.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { testTerminal } from "./test-terminal.ts";

const newFolder = temporaryFolder();
const PAY = {
  name: "pay",
  kind: "write",
  attempts: 1,
  // Long enough to be fired on a busy machine: what was not is told as not applied.
  deadlineMs: 2_000,
  readTimeoutMs: 50,
} as const;

let folder: string;
/** What the service has done, and how often it was asked to. */
let done: Set<string>;
let fired: number;
/** What the reader says in place of what it sees. */
let answer: (() => Promise<never>) | undefined;

function program() {
  const hf = createHoldfire({ store: sqliteStore({ path: join(folder, "ledger.db") }) });
  const pay = hf.tool({
    ...PAY,
    // No promise of when it commits: an absence proves nothing.
    readState: async ({ key }): Promise<Reading<string>> => {
      if (answer) return answer();
      return done.has(key) ? committed(key, { effectId: key }) : absent();
    },
    run: (_: { to: string }, { key }): Promise<string> => {
      fired += 1;
      return Promise.reject(new Error(key));
    },
  });
  return { hf, pay };
}

beforeEach(async () => {
  folder = newFolder();
  done = new Set();
  fired = 0;
  answer = undefined;
  Object.assign(globalThis, {
    testConfig: () => {
      const { hf, pay } = program();
      return defineConfig({ hf, tools: [pay] });
    },
  });
  const text = "export default () => globalThis.testConfig();\n";
  writeFileSync(join(folder, "holdfire.config.mjs"), text);
});

afterEach(() => {
  Reflect.deleteProperty(globalThis, "testConfig");
});

/** Two lost replies; the service has done the first. */
async function loseTwo() {
  const { hf, pay } = program();
  const outcomes = [];
  for (const to of ["a", "b"]) outcomes.push(await pay.outcome({ to }, { scope: "s" }));
  await hf.close();
  expect(outcomes.map(({ status }) => status)).toEqual(["unknown", "unknown"]);
  done.add(outcomes[0]?.key ?? "");
  return outcomes.map(({ key }) => key);
}

async function reconcile(...argv: string[]) {
  const terminal = testTerminal({ cwd: folder, now: Date.now });
  const exitCode = await runCommandLine(["reconcile", ...argv], COMMANDS, terminal);
  return { exitCode, terminal, out: terminal.printed(), err: terminal.complained() };
}

test("reads with the tools of the config, tells how far it is, and fires nothing", async () => {
  const [, lost] = await loseTwo();
  const sent = fired;
  const { exitCode, out, terminal } = await reconcile();
  expect(exitCode).toBe(1);
  expect(out).toContain("Checked 2: 1 committed, 0 not applied, 1 still unknown; 0 sent again.");
  expect(out).toContain(`unknown  pay  ${lost}`);
  expect(terminal.statuses.filter((status) => status !== "").at(-1)).toContain("checked 2");
  expect(terminal.statuses.at(-1)).toBe("");
  expect(fired).toBe(sent);
  for (const key of [lost]) done.add(key ?? "");
  expect(await reconcile()).toMatchObject({ exitCode: 0 });
});

test("--json has the whole report, and --drift what the world says otherwise", async () => {
  const [found] = await loseTwo();
  await reconcile();
  done.clear();
  const { exitCode, out } = await reconcile("--json", "--drift", "--tool", "pay");
  expect(exitCode).toBe(1);
  const { reconciled, drift } = JSON.parse(out);
  expect(reconciled).toMatchObject({ ended: "done", checked: 1 });
  expect(reconciled.stillUnknown).toHaveLength(1);
  expect(drift.findings).toEqual([{ finding: "reader_blind", tool: "pay", missed: 1 }]);
  expect(drift.notCompared).toMatchObject([{ key: found, why: "reader_blind" }]);
});

test("a reader that hangs or throws decides nothing: still unknown, with its reason", async () => {
  await loseTwo();
  const readers = [() => new Promise<never>(() => {}), () => Promise.reject(new Error("down"))];
  for (const read of readers) {
    answer = read;
    const { exitCode, out } = await reconcile("--json");
    expect(exitCode).toBe(1);
    const { stillUnknown } = JSON.parse(out).reconciled;
    expect(stillUnknown).toMatchObject([{ reason: "cannot_tell" }, { reason: "cannot_tell" }]);
  }
  expect(fired).toBe(2);
});

test("a tool that the config does not have is named, not passed over", async () => {
  const { err, exitCode } = await reconcile("--tool", "nothing");
  expect(exitCode).toBe(2);
  expect(err).toContain("must name tools made by hf.tool");
});

test("without a config it says how to name one", async () => {
  const { err, exitCode } = await reconcile("--config", "none.ts");
  expect(exitCode).toBe(2);
  expect(err).toContain("--config FILE");
});
