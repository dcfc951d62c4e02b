/** The official filesystem and memory servers say the same with the gateway and without it. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { startServer } from "../../src/gateway/pipe/server-process.ts";
import { newWorld, startHost } from "./world.ts";

const program = (name: string): string =>
  fileURLToPath(
    new URL(`../../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url),
  );

type Calls = (folder: string) => readonly (readonly [tool: string, args: object])[];

const FILESYSTEM: Calls = (folder) => [
  ["read_text_file", { path: join(folder, "list.txt") }],
  ["write_file", { path: join(folder, "new.txt"), content: "a\n" }],
  ["edit_file", { path: join(folder, "new.txt"), edits: [{ oldText: "a", newText: "b" }] }],
  ["edit_file", { path: join(folder, "new.txt"), edits: [{ oldText: "zz", newText: "b" }] }],
  ["read_text_file", { path: join(folder, "new.txt") }],
  ["read_text_file", { path: "/etc/none" }],
  ["create_directory", { path: join(folder, "sub") }],
  ["list_directory", { path: folder }],
  ["no_such_tool", {}],
];

const MEMORY: Calls = () => [
  ["create_entities", { entities: [{ name: "Ana", entityType: "person", observations: ["x"] }] }],
  ["read_graph", {}],
  ["add_observations", { observations: [{ entityName: "Ana", contents: ["y"] }] }],
  ["add_observations", { observations: [{ entityName: "None", contents: ["y"] }] }],
  ["read_graph", {}],
  ["delete_entities", { entityNames: ["Ana"] }],
  ["search_nodes", { query: "Ana" }],
];

/** Everything that the host is told, without ids and without what the gateway adds. */
async function transcript(name: string, calls: Calls, unguarded: boolean): Promise<unknown[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfire-official-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "list.txt"), "1\n");
  const upstream = startServer({
    command: process.execPath,
    args: [program(name), folder],
    cwd: folder,
    env: { ...process.env, MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
    maxMessageBytes: 1_000_000,
  });
  const ledger = realpathSync(mkdtempSync(join(tmpdir(), "holdfire-official-")));
  onTestFinished(() => rmSync(ledger, { recursive: true, force: true }));
  const elicitation = { form: {} };
  const host = await startHost(newWorld(ledger), { raw: true, upstream, unguarded });
  const said: unknown[] = [];
  const ask = async (method: string, params: object) => {
    const { result, error } = (await host.request(method, params)) as Record<string, unknown>;
    said.push(JSON.parse(JSON.stringify({ result, error }).replaceAll(folder, "FOLDER")));
  };
  await ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation },
    clientInfo: { name: "test", version: "1" },
  });
  host.write('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  // The person of this host says yes to everything.
  void (async () => {
    for (;;) {
      const { id } = await host.next(({ method }) => method === "elicitation/create");
      const result = { action: "accept", content: { confirm: true } };
      host.write(JSON.stringify({ jsonrpc: "2.0", id, result }));
    }
  })();
  await ask("tools/list", {});
  for (const [tool, args] of calls(folder))
    await ask("tools/call", { name: tool, arguments: args });
  await ask("resources/list", {});
  await host.end();
  return said;
}

/** Without the two tools that the gateway adds to the list. */
const withoutOurs = ([first, list, ...rest]: unknown[]): unknown[] => {
  const { result } = list as { result: { tools: { name: string }[] } };
  const tools = result.tools.filter((tool) => !tool.name.startsWith("holdfire_"));
  return [first, { ...(list as object), result: { ...result, tools } }, ...rest];
};

describe("the same with the gateway and without it", () => {
  test.each([
    ["server-filesystem", FILESYSTEM],
    ["server-memory", MEMORY],
  ] as const)("%s", async (name, calls) => {
    const bare = await transcript(name, calls, true);
    const guarded = await transcript(name, calls, false);
    expect(bare.length).toBeGreaterThan(calls("").length);
    expect(withoutOurs(guarded)).toEqual(bare);
  });
});
