/** The official memory and filesystem servers behind the guard, with clients of both SDKs. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client as SecondClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as SecondStdio } from "@modelcontextprotocol/client/stdio";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createHoldfire } from "../../../src/create.ts";
import { guardMcpClient, type McpGuardOptions } from "../../../src/integrations/mcp/index.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import type { AnyClient, Result, Version } from "./servers.ts";

const program = (name: string): string =>
  fileURLToPath(
    new URL(`../../../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url),
  );
const envelope = ({ content }: Result) => JSON.parse(content[0]?.text ?? "");

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfire-official-")));
  return () => rmSync(folder, { recursive: true, force: true });
});

async function start(
  version: Version,
  args: string[],
  env: Record<string, string>,
  options: McpGuardOptions = {},
) {
  const info = { name: "test", version: "1" };
  const parameters = { command: process.execPath, args, env, stderr: "ignore" as const };
  const client = version === "v1" ? new FirstClient(info) : new SecondClient(info);
  const transport = version === "v1" ? new FirstStdio(parameters) : new SecondStdio(parameters);
  await client.connect(transport as never);
  onTestFinished(() => client.close());
  const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
  onTestFinished(() => hf.close());
  const guarded = guardMcpClient(client as unknown as AnyClient, hf, options);
  const call = (scope: string, name: string, given: object) =>
    hf.scope(scope, () => guarded.callTool({ name, arguments: given }));
  return { guarded, call, hf };
}

describe.each(["v1", "v2"] as const)("SDK %s", (version) => {
  test("filesystem: edit_file called twice is one edit", async () => {
    const path = join(folder, "list.txt");
    writeFileSync(path, "a\n");
    const { call, hf } = await start(
      version,
      [program("server-filesystem"), folder],
      {},
      {
        // The server calls its edits destructive; here the user lets them pass.
        tools: { edit_file: { kind: "write" } },
      },
    );
    const edit = { path, edits: [{ oldText: "a\n", newText: "a\na\n" }] };
    expect(envelope(await call("turn-1", "edit_file", edit))).toMatchObject({
      ok: true,
      replayed: false,
    });
    expect(envelope(await call("turn-1", "edit_file", edit))).toMatchObject({ replayed: true });
    expect(readFileSync(path, "utf8")).toBe("a\na\n");
    // A person asked once more.
    await call("turn-2", "edit_file", edit);
    expect(readFileSync(path, "utf8")).toBe("a\na\na\n");
    expect((await hf.operations.list()).items).toHaveLength(2);
  });

  test("filesystem: what the server calls destructive waits for a person", async () => {
    const path = join(folder, "list.txt");
    writeFileSync(path, "a\n");
    const { call } = await start(version, [program("server-filesystem"), folder], {});
    const held = await call("turn-1", "write_file", { path, content: "gone" });
    expect(envelope(held)).toMatchObject({ ok: false, outcome: "held" });
    expect(readFileSync(path, "utf8")).toBe("a\n");
  });

  test("filesystem: a tool that says that it only reads is passed through, each time", async () => {
    const path = join(folder, "list.txt");
    writeFileSync(path, "a\n");
    const { guarded, hf } = await start(version, [program("server-filesystem"), folder], {});
    const read = () => guarded.callTool({ name: "read_text_file", arguments: { path } });
    expect((await read()).content[0]?.text).toBe("a\n");
    writeFileSync(path, "b\n");
    expect((await read()).content[0]?.text).toBe("b\n");
    expect((await hf.operations.list()).items).toHaveLength(0);
  });

  test("memory: an observation that is added twice is written once", async () => {
    const file = join(folder, "memory.jsonl");
    const { call } = await start(
      version,
      [program("server-memory")],
      { MEMORY_FILE_PATH: file },
      {
        tools: { create_entities: { kind: "write" }, delete_entities: { kind: "write" } },
      },
    );
    const create = { entities: [{ name: "Ana", entityType: "person", observations: ["pays"] }] };
    const first = await call("turn-1", "create_entities", create);
    expect(envelope(first)).toMatchObject({ ok: true, replayed: false });
    const again = await call("turn-1", "create_entities", create);
    expect(envelope(again)).toMatchObject({ ok: true, replayed: true });
    expect(again.structuredContent).toEqual(first.structuredContent);
    await call("turn-1", "delete_entities", { entityNames: ["Ana"] });
    // The record answers: she is not made again behind the deletion.
    expect(envelope(await call("turn-1", "create_entities", create))).toMatchObject({
      replayed: true,
    });
    expect(readFileSync(file, "utf8")).not.toContain("Ana");
  });
});
