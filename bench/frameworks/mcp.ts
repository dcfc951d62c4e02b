/**
 * Row: a hand-written loop whose tools are those of an MCP server.
 *
 * @module
 */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { guardMcpClient } from "../../src/integrations/mcp/index.ts";
import type { Framework } from "./columns.ts";
import { askModel, byHand, loop } from "./loops.ts";
import { THREAD } from "./program.ts";
import { PAY, PAY_SCHEMA, type Payment, RULES, type Stage, WORDS } from "./stage.ts";

const INFO = { name: "bank", version: "1.0.0" };

/** A client of a server that pays, in the scope of one request. */
async function connect(stage: Stage, scope: string) {
  const server = new Server(INFO, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: [{ name: "pay", inputSchema: PAY_SCHEMA as never }],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const paid = await stage.pay(params.arguments as unknown as Payment);
    return { content: [{ type: "text", text: JSON.stringify(paid) }] };
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client(INFO);
  await Promise.all([server.connect(far), client.connect(near)]);
  const { hf } = stage;
  const used = hf ? guardMcpClient(client as never, hf, { scope, tools: { pay: RULES } }) : client;
  return (args: Payment, signal?: AbortSignal) =>
    (used as Client).callTool({ name: "pay", arguments: { ...args } }, undefined, {
      ...(signal ? { signal } : {}),
    });
}

export const mcp: Framework = {
  name: "MCP client in a loop",
  run: async (stage, { said, signal }) => {
    const call = await connect(stage, `${THREAD}/turn-${said.length}`);
    return loop(
      stage,
      said,
      byHand((args) => call(args, signal)),
      signal,
    );
  },
  ownRetry: { none: "the client makes no tool call again" },
  async resume(stage) {
    stage.says(PAY);
    const messages = [{ role: "user" as const, content: WORDS }];
    const kept = JSON.stringify(await askModel(stage, messages));
    for (const _ of [1, 2]) {
      const call = await connect(stage, `${THREAD}/turn-1`);
      await byHand(call)(JSON.parse(kept), messages);
    }
  },
  approval: { none: 'it asks no person; holdfire does, for kind: "destructive"' },
};
