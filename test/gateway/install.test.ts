/** The gateway in a host's configuration: shown, written with a copy, and taken back. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { configOf, HOSTS } from "../../src/gateway/host-config.ts";
import { testTerminal } from "../cli/test-terminal.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";

const newFolder = temporaryFolder();
const CONFIG = {
  theme: "dark",
  mcpServers: {
    notes: { command: "npx", args: ["@vendor/server", "--", "x"], env: { TOKEN: "secret" } },
    remote: { url: "https://example.com/mcp" },
  },
};

async function run(argv: readonly string[]) {
  const terminal = testTerminal();
  const exitCode = await runCommandLine(["mcp", ...argv], COMMANDS, terminal);
  return { exitCode, out: terminal.printed(), err: terminal.complained() };
}

function configFile(): string {
  const file = join(newFolder(), "mcp.json");
  writeFileSync(file, JSON.stringify(CONFIG, undefined, 2));
  return file;
}

test("install shows what would change and nothing else, and writes nothing", async () => {
  const file = configFile();
  const shown = await run(["install", "notes", "--host", "cursor", "--file", file]);
  expect(shown.exitCode).toBe(0);
  expect(shown.out).toContain('"holdfire"');
  expect(shown.out).not.toContain("secret");
  expect(shown.err).toContain("Nothing was written");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(CONFIG);
});

test("install --yes writes it beside a copy, and uninstall puts it back", async () => {
  const file = configFile();
  await run(["install", "notes", "--host", "cursor", "--file", file, "--yes"]);
  const { mcpServers } = JSON.parse(readFileSync(file, "utf8"));
  expect(mcpServers.notes).toEqual({
    command: "npx",
    args: [
      ...["-y", "holdfire", "mcp", "--as", "cursor", "--server", "notes", "--"],
      ...["npx", "@vendor/server", "--", "x"],
    ],
    env: { TOKEN: "secret" },
  });
  expect(JSON.parse(readFileSync(`${file}.holdfire-backup`, "utf8"))).toEqual(CONFIG);
  const twice = await run(["install", "notes", "--host", "cursor", "--file", file, "--yes"]);
  expect(twice.exitCode).not.toBe(0);
  expect(twice.err).toContain("already");
  await run(["uninstall", "notes", "--host", "cursor", "--file", file, "--yes"]);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(CONFIG);
});

test("install --rules writes them too: a ready set by its name, a file by its whole path", async () => {
  const file = configFile();
  const rules = join(newFolder(), "rules.json");
  writeFileSync(rules, '{"servers":{"notes":{"add":{"kind":"write"}}}}');
  const options = ["--host", "cursor", "--file", file, "--yes"];
  const wrong = await run(["install", "notes", ...options, "--rules", "memroy"]);
  expect(wrong.err).toContain("Did you mean memory?");
  await run(["install", "notes", ...options, "--rules", "memory", "--rules", relative(".", rules)]);
  const { mcpServers } = JSON.parse(readFileSync(file, "utf8"));
  expect(mcpServers.notes.args.slice(3, 11)).toEqual([
    ...["--as", "cursor", "--rules", "memory", "--rules", rules, "--server", "notes"],
  ]);
});

test("what cannot be guarded is said, and nothing is written", async () => {
  const file = configFile();
  const install = (name: string) => run(["install", name, "--host", "vscode", "--file", file]);
  const cursor = (name: string) => run(["install", name, "--host", "cursor", "--file", file]);
  expect((await cursor("remote")).err).toContain("address");
  expect((await cursor("none")).err).toContain("notes, remote");
  expect((await install("notes")).err).toContain("it has: none");
  expect((await run(["install", "notes", "--host", "emacs"])).exitCode).toBe(2);
  expect((await run(["instal"])).exitCode).toBe(2);
  expect((await run([])).err).toContain("command is missing");
  expect(existsSync(`${file}.holdfire-backup`)).toBe(false);
});

test("each host has its own file", () => {
  const place = { platform: "darwin" as const, home: "/home/ana", cwd: "/project", env: {} };
  const paths = HOSTS.map((host) => configOf(host, place).path);
  expect(new Set(paths).size).toBe(HOSTS.length);
  expect(paths[0]).toBe("/home/ana/Library/Application Support/Claude/claude_desktop_config.json");
});
