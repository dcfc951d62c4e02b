/**
 * A host that is a process: connects to the server, bare or through the gateway, makes one call and prints what it is
 * told. `host.ts v1|v2 bare|gateway FOLDER TOOL ARGUMENTS`
 *
 * @module
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client as SecondClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as SecondStdio } from "@modelcontextprotocol/client/stdio";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";

const [version, way, folder = "", name, args = "{}", ...more] = process.argv.slice(2);
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = [process.execPath, at("noting-server.ts"), join(folder, "effects")];
const store = more.includes("--store") ? [] : ["--store", join(folder, "ledger.db")];
const mcp = [at("../../src/cli/main.ts"), "mcp", ...store, ...more];
const through = [process.execPath, ...mcp, "--lease", "500ms", "--", ...server];
const [command = "", ...rest] = way === "bare" ? server : through;
const env = Object.fromEntries(
  Object.entries(process.env).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value]],
  ),
);
const parameters = { command, args: rest, env };
const info = { name: "host", version: "1" };
const client =
  version === "v1"
    ? new FirstClient(info)
    : new SecondClient(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
const transport = version === "v1" ? new FirstStdio(parameters) : new SecondStdio(parameters);
await client.connect(transport as never);
process.stdout.write(`pid ${transport.pid}\n`);
const called = client as unknown as { callTool(params: object): Promise<{ content: unknown }> };
const answer = await called
  .callTool({ name, arguments: JSON.parse(args) })
  .catch((error: Error) => ({ content: [{ text: `error: ${error.message}` }] }));
const [first] = answer.content as { text: string }[];
process.stdout.write(`told ${first?.text}\n`);
// Until it is killed, or its input ends.
process.stdin.on("end", () => void client.close());
process.stdin.resume();
