/**
 * The smallest MCP server over stdio: answers at once, so that what is measured is the way to it and back.
 *
 * @module
 */

import { createInterface } from "node:readline";

const inputSchema = { type: "object", properties: { text: { type: "string" } } };
const TOOLS = [
  { name: "write", inputSchema, annotations: { readOnlyHint: false } },
  { name: "read", inputSchema, annotations: { readOnlyHint: true } },
];

function resultOf(method: string, params: Record<string, unknown> = {}): object | undefined {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "bench", version: "1.0.0" },
      };
    case "tools/list":
      return { tools: TOOLS };
    case "tools/call":
      return { content: [{ type: "text", text: "done" }] };
    case "ping":
      return {};
    default:
      return undefined;
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = resultOf(method, params);
  if (result) process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
});
