/** Every example runs as it is, as a program of its own, and ends in one payout. */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };

const nameOf = (path: string): string => basename(path, ".ts");

const ANSWERED = ["Ana is paid.", "Ana is paid."];

/** What each prints before it counts the payouts: the first run, and the same request again. */
const PRINTED: Readonly<Record<string, readonly string[]>> = {
  ai: ANSWERED,
  anthropic: ANSWERED,
  "approval-slack": ["held", "committed", "pay_out: approved by ana"],
  "approval-webhook": ["held", "approved", "committed"],
  command: ["committed after 2 attempts", "committed from the ledger"],
  langchain: ANSWERED,
  langgraph: ANSWERED,
  mastra: ANSWERED,
  mcp: ["It waits for a person.", ...ANSWERED],
  openai: ANSWERED,
  "openai-agents": ANSWERED,
  "plain-fetch": ["201", "201"],
  temporal: ["paid: ana, 40.00", "paid: ana, 40.00"],
};

function run(...argv: readonly string[]) {
  const { NODE_OPTIONS: _, FORCE_COLOR: __, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8", env });
  return { status, lines: stdout.trimEnd().split("\n"), stderr };
}

test("each example is known here", () => {
  const others = ["bank", "demo", "holdfire.config"];
  const programs = globSync("examples/*.ts").map(nameOf);
  expect(programs.filter((name) => !others.includes(name)).sort()).toEqual(
    Object.keys(PRINTED).sort(),
  );
});

test.each(Object.entries(PRINTED))("%s: one payout", (name, printed) => {
  const { status, lines, stderr } = run(`examples/${name}.ts`);
  expect(lines, stderr).toEqual([...printed, "payouts: 1"]);
  expect(status).toBe(0);
});

test("an example that pays twice, or never, ends with 1", () => {
  const program = (payouts: number) => `
    import { startWorld } from "./examples/support/world.ts";
    const { bank, end } = await startWorld();
    for (let n = 0; n < ${payouts}; n += 1) await bank.pay({ payee: "ana", cents: 1 }).catch(() => {});
    await end();
  `;
  const start = (payouts: number) => run("--input-type=module", "--eval", program(payouts));
  expect(start(2)).toMatchObject({ status: 1, lines: ["payouts: 2"] });
  expect(start(0)).toMatchObject({ status: 1, lines: ["payouts: 0"] });
});

test("what they import as holdfire is what the package exports", () => {
  const entries: Readonly<Record<string, string | { readonly default: string }>> = manifest.exports;
  for (const path of globSync("examples/holdfire/*.ts")) {
    const subpath = nameOf(path) === "index" ? "." : `./${nameOf(path)}`;
    const entry = entries[subpath];
    const source = typeof entry === "object" ? entry.default : `${subpath} is not exported`;
    const target = join("../../src", source.replace("./dist/", "").replace(/\.js$/, ".ts"));
    expect(readFileSync(path, "utf8")).toContain(`\nexport * from "${target}";\n`);
  }
});
