/**
 * A host that is a process and makes many calls at once through a gateway of its own, as its parent asks: `{ text,
 * cancel }` in, `{ text, said }` out. It ends when its gateway does. `storm-host.ts FOLDER`
 *
 * @module
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

export interface Asked {
  readonly text: string;
  /** The host does not want it any more, once it is sent. */
  readonly cancel: boolean;
}

export type Said =
  | { readonly gateway: number; readonly server: number }
  /** Without `said`, it got no answer. */
  | { readonly text: string; readonly said: string | undefined };

const [folder = ""] = process.argv.slice(2);
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = [process.execPath, at("noting-server.ts"), join(folder, "effects")];
const mcp = [at("../../src/cli/main.ts"), "mcp", "--store", join(folder, "ledger.db")];
const args = [...mcp, "--server", "noting", "--lease", "1s", "--", ...server];
const transport = new StdioClientTransport({ command: process.execPath, args });
const client = new Client({ name: "storm", version: "1" });
const tell = (said: Said) => void process.send?.(said);

await client.connect(transport);
client.onclose = () => process.exit();
process.on("message", async ({ text, cancel }: Asked) => {
  const stop = new AbortController();
  const how = { signal: stop.signal, timeout: 120_000 };
  const called = client.callTool({ name: "pay", arguments: { text } }, undefined, how);
  if (cancel) setImmediate(() => stop.abort());
  const answer = await called.catch(() => undefined);
  const [first] = (answer?.content ?? []) as { text: string }[];
  tell({ text, said: first?.text });
});
tell({ gateway: transport.pid ?? 0, server: Number(client.getInstructions()) });
