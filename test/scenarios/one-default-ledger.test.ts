/** One job has one ledger, wherever it is started from. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { testTerminal } from "../cli/test-terminal.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";

const newFolder = temporaryFolder();

/** A project with a job that pays once a month, and a list of what was paid. */
function newProject(): { readonly root: string; readonly job: string; paid(): string[] } {
  const root = newFolder();
  const job = join(root, "jobs", "pay.ts");
  const list = join(root, "paid.txt");
  mkdirSync(join(root, "jobs"));
  writeFileSync(join(root, "package.json"), `{ "type": "module" }`);
  writeFileSync(
    job,
    `import { appendFileSync } from "node:fs";
    import { createHoldfire } from ${JSON.stringify(resolve("src/index.ts"))};
    const hf = createHoldfire();
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      run: async ({ to }) => appendFileSync(${JSON.stringify(list)}, to + "\\n"),
    });
    await pay({ to: "ana" }, { scope: "payroll of May" });
    await hf.close();`,
  );
  const paid = () => (existsSync(list) ? readFileSync(list, "utf8").trim().split("\n") : []);
  return { root, job, paid };
}

function start(script: string, cwd: string): void {
  const { HOLDFIRE_STORE: _, ...env } = process.env;
  execFileSync(process.execPath, [script], { cwd, env, stdio: "pipe" });
}

test("a job started from four folders pays once, and keeps one ledger", {
  timeout: 60_000,
}, async () => {
  const { root, job, paid } = newProject();
  const [elsewhere, another] = [newFolder(), newFolder()];
  writeFileSync(join(another, "package.json"), "{}");
  const link = join(another, "pay.ts");
  symlinkSync(job, link);
  for (const cwd of [root, join(root, "jobs"), elsewhere, another]) start(job, cwd);
  start(link, another);
  expect(paid()).toEqual(["ana"]);
  expect(existsSync(join(root, ".holdfire", "ledger.db"))).toBe(true);
  expect(readdirSync(elsewhere)).toEqual([]);
  expect(readdirSync(another).sort()).toEqual(["package.json", "pay.ts"]);

  const terminal = testTerminal({ cwd: join(root, "jobs"), env: {} });
  expect(await runCommandLine(["ls"], COMMANDS, terminal)).toBe(0);
  expect(terminal.printed()).toContain("pay");
});

test("the folder of the ledger is out of git from the start", () => {
  const { root, job } = newProject();
  start(job, root);
  const file = join(root, ".holdfire", ".gitignore");
  expect(readFileSync(file, "utf8")).toBe("*\n");
  if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a folder that was there is left as it is", () => {
  const { root, job } = newProject();
  mkdirSync(join(root, ".holdfire"), { mode: 0o700 });
  start(job, root);
  expect(existsSync(join(root, ".holdfire", ".gitignore"))).toBe(false);
});
