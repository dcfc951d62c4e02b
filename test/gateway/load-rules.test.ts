/** Rules from a ready set, a JSON file and a module, and what a mistake in them is answered with. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { mcp } from "../../src/cli/mcp/command.ts";
import { loadRules } from "../../src/cli/mcp/load-rules.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { READY_RULES } from "../../src/gateway/ready/index.ts";
import { testTerminal } from "../cli/test-terminal.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";

const newFolder = temporaryFolder();

function fileOf(name: string, text: string): string {
  const folder = newFolder();
  writeFileSync(join(folder, name), text);
  return folder;
}

const jsonOf = (rule: object, server = "pay") =>
  fileOf("rules.json", JSON.stringify({ servers: { [server]: { refund: rule } } }));

test("a JSON file, and the export of a config module", async () => {
  const rule = { kind: "write", about: ["payment"] };
  expect(await loadRules(["./rules.json"], "pay", jsonOf(rule))).toEqual({ refund: rule });
  const module = `export default {};
    export const mcp = { servers: { pay: { refund: { kind: "write" as const } } } };`;
  const folder = fileOf("holdfire.config.ts", module);
  expect(await loadRules(["holdfire.config.ts"], "pay", folder)).toEqual({
    refund: { kind: "write" },
  });
});

test("a ready set, and a file after it that says something else of one tool", async () => {
  const folder = fileOf("mine.json", '{"servers":{"gh":{"create_issue":{"kind":"read"}}}}');
  const rules = await loadRules(["server-github", "mine.json"], "gh", folder);
  expect(rules).toEqual({ ...READY_RULES["server-github"], create_issue: { kind: "read" } });
});

describe("a mistake is named, with what to do about it", () => {
  test.each([
    [["githup"], newFolder, "Did you mean github?"],
    [["./none.json"], newFolder, "none.json cannot be loaded"],
    [["./rules.json"], () => fileOf("rules.json", "{"), "rules.json cannot be loaded"],
    [["./rules.json"], () => jsonOf({ kinds: "write" }), "pay#refund.kinds: is not an option"],
    [
      ["./rules.json"],
      () => jsonOf({ kind: "writes" }),
      'must be one of , read, write, destructive, got "writes"',
    ],
    [
      ["./rules.json"],
      () => jsonOf({ readWith: { tool: "list", match: { a: 1 } } }),
      "madeAt: is needed",
    ],
    [
      ["./rules.json"],
      () => jsonOf({ intent: ["a"], about: ["b"] }),
      "about: must name arguments that are in intent",
    ],
    [["./rules.json"], () => jsonOf({ kind: "write" }, "other"), 'no rules for the server "pay"'],
    [["./config.mjs"], () => fileOf("config.mjs", "export default 1"), 'has no export "mcp"'],
  ])("%j", async (rules, folder, words) => {
    const terminal = testTerminal({ cwd: folder(), env: {} });
    const options = rules.flatMap((one) => ["--rules", one]);
    const argv = ["mcp", "--server", "pay", ...options, "--", "no-program"];
    expect(await runCommandLine(argv, [mcp], terminal)).toBe(2);
    expect(terminal.complained()).toContain(words);
  });
});
