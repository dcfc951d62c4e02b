/**
 * An agent whose tool is that of an MCP server over stdio, bare or through the gateway. After a failure it connects
 * again and calls again.
 *
 *   node test/chaos/mcp-agent.ts bare|gateway FOLDER
 *
 * @module
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [, , way, folder = ""] = process.argv;
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = [process.execPath, at("../gateway/noting-server.ts"), join(folder, "effects")];
const gateway = [process.execPath, at("../../src/cli/main.ts"), "mcp", "--lease", "500ms", "--"];
const [command = "", ...args] = way === "bare" ? server : [...gateway, ...server];

async function pay(): Promise<void> {
  const client = new Client({ name: "agent", version: "1" });
  try {
    // It gives its server hardly anything of its own environment.
    await client.connect(new StdioClientTransport({ command, args }));
    await client.listTools();
    await client.callTool({ name: "look", arguments: { text: "before" } });
    const call = { name: "pay", arguments: { text: "4 euros to Ana" } };
    await client.callTool(call, undefined, { timeout: 3_000 });
  } finally {
    await client.close();
  }
}

for (let attempt = 1; attempt <= 2; attempt += 1) {
  try {
    await pay();
    break;
  } catch {
    // As many do: what failed is tried again.
  }
}
process.exit(0);
